// Where a program has made so many accesses that races are no longer looked for (model/race_search.hpp): what is found still, what
// must not be found, and what the program says of it.
#include <string>
#include <vector>

#include "catch.hpp"
#include "workplace.hpp"

namespace {

// Each thread of late() reads 4096 times before it does what the case says: four times what TILEWISE_RACES=1 looks at.
const char* const program = R"(#include <cstdio>
#include <cstdlib>
#include <cstring>
constexpr int kThreads = 256, kBlocks = 4, kRounds = 4096;
__constant__ int table[64];
__device__ int variable[kThreads * kBlocks];
__managed__ int managed[kThreads * kBlocks];
__device__ bool is(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}
struct Place { int *a, *b, *freed, *host; char name[24]; };
__global__ void late(Place p) {
  __shared__ int s[kThreads];
  __shared__ int never[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  int sum = 0;
  for (int r = 0; r < kRounds; ++r) sum += p.a[i];
  s[t] = sum;
  __syncthreads();
  if (is(p.name, "race-global")) p.b[i % 64] = t;
  if (is(p.name, "race-shared")) s[0] = s[t] + t;
  if (is(p.name, "uninitialised-shared")) p.b[i] = never[t];
  if (is(p.name, "out-of-bounds")) p.b[i + 1] = 1;
  if (is(p.name, "out-of-bounds-shared")) s[t + (i == 700 ? 100 : 0)] = 1;
  if (is(p.name, "misaligned")) p.b[i] = *(int*)((char*)p.a + 2 + 4 * t);
  if (is(p.name, "uninitialised")) p.a[i] = p.b[i] + 1;
  if (is(p.name, "use-after-free")) p.a[i] = p.freed[t];
  if (is(p.name, "host-pointer")) p.a[i] = p.host[t];
  if (is(p.name, "divergent-barrier")) {
    if (t < 32) {
      __syncthreads();
    } else {
      p.b[i] = 1;
      __syncthreads();
    }
  }
  if (is(p.name, "nothing")) {
    p.b[i] = 7 + table[t % 64] + s[kThreads - 1 - t];
    variable[i] = p.b[i];
    __syncthreads();
    p.a[i] = p.b[blockIdx.x * kThreads + kThreads - 1 - t] + variable[i];
    atomicAdd(&p.b[kThreads * kBlocks], 1);
    atomicAdd(&s[0], 1);
  }
  if (is(p.name, "host-too-early")) managed[i] = 1;
  if (is(p.name, "handed-over") && t == 0) {
    int handed = 0;
    for (int r = 0; r < 3; ++r) {
      if (r == 1 && i == 0) {
        managed[0] = 5;
        __threadfence();
      }
      handed = atomicAdd(&p.b[0], r == 2 && i == 0);
    }
    if (i != 0 && handed == 1) {
      __threadfence();
      p.a[i] = managed[0];
    }
  }
}
__global__ void early(int* to) { to[0] = threadIdx.x; }
__global__ void reads(const int* from, int* to) { to[threadIdx.x] = from[kThreads * kBlocks - 1 - threadIdx.x]; }
int main() {
  const int n = kThreads * kBlocks;
  Place p = {};
  std::strcpy(p.name, std::getenv("CASE"));
  const bool spare = std::strcmp(p.name, "nothing") == 0;
  cudaMalloc(&p.a, n * 4), cudaMalloc(&p.b, (n + spare) * 4), cudaMalloc(&p.freed, n * 4);
  cudaMemset(p.a, 0, n * 4), cudaMemset(p.freed, 0, n * 4), cudaFree(p.freed);
  if (spare) cudaMemset(p.b + n, 0, 4);
  if (std::strcmp(p.name, "handed-over") == 0) cudaMemset(p.b, 0, n * 4);
  p.host = (int*)std::malloc(n * 4);
  late<<<kBlocks, kThreads>>>(p);
  if (std::strcmp(p.name, "host-too-early") == 0 && managed[n - 1] == 2) std::puts("two");
  if (cudaDeviceSynchronize() != cudaSuccess) return 0;
  if (spare) {
    reads<<<1, kThreads>>>(p.b, p.a);
    int* host = (int*)std::malloc((n + 1) * 4);
    cudaMemcpy(host, p.b, (n + 1) * 4, cudaMemcpyDeviceToHost);
    std::printf("%d %d\n", host[n - 1], host[n]);
    std::free(host);
  }
  if (std::strcmp(p.name, "another") == 0) early<<<1, 64>>>(p.a);
  if (std::strcmp(p.name, "again") == 0) late<<<kBlocks, kThreads>>>(p);
  std::free(p.host);
  cudaFree(p.a), cudaFree(p.b);
}
)";

const std::string line_begin = "tilewise: ", line_end =
                                                 "made too many accesses to look for races among all of them: bounds "
                                                 "were looked at to the end, races in the beginning. "
                                                 "TILEWISE_RACES=all looks for them everywhere, and takes longer.\n";

}  // namespace

TEST_CASE("Where races are no longer looked for, all else is", "[findings][races]") {
  Workplace workplace;
  const Outcome compiled = workplace.compile(workplace.write(program));
  INFO(compiled.text);
  REQUIRE(compiled.status == 0);
  const auto run = [&](const std::string& name, const std::string& races) {
    return workplace.run_app("TILEWISE_FINDINGS=warn TILEWISE_RACES=" + races + " CASE=" + name);
  };
  const auto finds = [](const Outcome& outcome, const std::string& code) {
    return outcome.text.find(": " + code + ": ") != std::string::npos;
  };
  const auto is_in_part = [](const Outcome& outcome) { return outcome.text.find(line_end) != std::string::npos; };

  for (const std::string code : {"out-of-bounds", "out-of-bounds-shared", "misaligned", "uninitialised",
                                 "use-after-free", "host-pointer", "divergent-barrier", "host-too-early"}) {
    const Outcome part = run(code, "1"), all = run(code, "all");
    INFO(code << "\n" << part.text << "\n" << all.text);
    CHECK(is_in_part(part));
    CHECK_FALSE(is_in_part(all));
    CHECK(finds(part, code));
    CHECK(finds(all, code));
  }
  for (const std::string code : {"race-global", "race-shared", "uninitialised-shared"}) {
    const Outcome part = run(code, "1"), all = run(code, "all"), by_default = run(code, "");
    INFO(code << "\n" << part.text << "\n" << all.text);
    CHECK(is_in_part(part));
    CHECK_FALSE(finds(part, code));
    CHECK(finds(all, code));
    CHECK(by_default.text == all.text);
  }
}

TEST_CASE("Where races are no longer looked for, what is right stays without a finding", "[findings][races]") {
  Workplace workplace;
  REQUIRE(workplace.compile(workplace.write(program)).status == 0);
  const std::string output = "7 1024\n";
  CHECK(workplace.run_app("TILEWISE_RACES=all CASE=nothing").text == output);
  CHECK(workplace.run_app("CASE=nothing").text == output);
  const Outcome part = workplace.run_app("TILEWISE_RACES=1 CASE=nothing");
  CHECK(part.text == line_begin + "1 launch (late(Place)) " + line_end + output);
  CHECK(part.status == 0);
  // What the host can reach is looked at to the end: so is what orders it.
  CHECK(workplace.run_app("TILEWISE_RACES=all CASE=handed-over").text.empty());
  CHECK(workplace.run_app("TILEWISE_RACES=1 CASE=handed-over").text ==
        line_begin + "1 launch (late(Place)) " + line_end);
}

// Of a row of 67 numbers 41 have been written. Each thread reads them all, the first ones often enough.
TEST_CASE("Memory that has been written in part is looked at to the end", "[findings][races]") {
  Workplace workplace;
  const Outcome compiled = workplace.compile(workplace.write(R"(#include <cstdlib>
__global__ void add_rows(const int* a, int pitch, int width, int height, int* out, int beyond) {
  int sum = 0;
  for (int r = 0; r < 20000; ++r) sum += a[threadIdx.x % width];
  for (int y = 0; y < height; ++y) {
    const int end = y == height - 1 ? width + beyond : width;
    for (int x = 0; x < end; ++x) sum += a[y * pitch + x];
  }
  out[threadIdx.x] = sum;
}
int main() {
  const int pitch = 67, width = 41, height = 50;
  int *a, *out;
  cudaMalloc(&a, pitch * height * 4), cudaMalloc(&out, 128 * 4);
  for (int y = 0; y < height; ++y) cudaMemset(a + y * pitch, 0, width * 4);
  add_rows<<<1, 128>>>(a, pitch, width, height, out, std::atoi(std::getenv("BEYOND")));
  cudaDeviceSynchronize();
  cudaFree(a), cudaFree(out);
}
)"));
  INFO(compiled.text);
  REQUIRE(compiled.status == 0);
  CHECK(workplace.run_app("TILEWISE_RACES=1 BEYOND=0").text ==
        line_begin + "1 launch (add_rows(int const*, int, int, int, int*, int)) " + line_end);
  const Outcome beyond = workplace.run_app("TILEWISE_RACES=1 BEYOND=1");
  INFO(beyond.text);
  CHECK(beyond.text.find(": uninitialised: this thread reads element 3,324 of the 3,350-element") != std::string::npos);
  CHECK(beyond.text.find(line_end) != std::string::npos);
}

TEST_CASE("Launches of another place or shape have a share of their own", "[findings][races]") {
  Workplace workplace;
  REQUIRE(workplace.compile(workplace.write(program)).status == 0);
  const Outcome another = workplace.run_app("TILEWISE_RACES=1 CASE=another");
  INFO(another.text);
  CHECK(another.text.find(": race-global: ") != std::string::npos);
  CHECK(another.text.find("1 launch (late(Place))") != std::string::npos);
  CHECK(another.status == 1);
  // Two places are two shares: both of the launches are looked at in part.
  CHECK(workplace.run_app("TILEWISE_RACES=1 CASE=again").text == line_begin + "2 launches (late(Place)) " + line_end);
}

TEST_CASE("Everything is looked at where accesses are counted", "[findings][races]") {
  Workplace workplace;
  REQUIRE(workplace.compile(workplace.write(program)).status == 0);
  const Outcome counted = workplace.run_app("TILEWISE_COUNT=1 TILEWISE_RACES=1 CASE=race-global");
  INFO(counted.text);
  CHECK(counted.text.find(": race-global: ") != std::string::npos);
  CHECK(counted.text.find(line_end) == std::string::npos);
}

TEST_CASE("TILEWISE_RACES is a number of millions, or all", "[findings][races]") {
  Workplace workplace;
  REQUIRE(workplace.compile(workplace.write("int main() {}\n")).status == 0);
  for (const std::string wrong : {"0", "-1", "1000001", "1.5", "most", "'1 '"}) {
    const Outcome outcome = workplace.run_app("TILEWISE_RACES=" + wrong);
    INFO(wrong << "\n" << outcome.text);
    CHECK(outcome.status == 2);
    CHECK(outcome.text.find("not a number of accesses in millions; allowed are 1 to 1,000,000, and all\n") !=
          std::string::npos);
  }
  for (const std::string right : {"1", "1000000", "all", ""})
    CHECK(workplace.run_app("TILEWISE_RACES=" + right).status == 0);
}
