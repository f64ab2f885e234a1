// What lets a program that is looked at in part run on (rewriter/inline_caches.hpp): the assembly, and that a place which has been asked
// about is asked about again when something has changed.
#include "rewriter/inline_caches.hpp"

#include <string>

#include "catch.hpp"
#include "workplace.hpp"

using tilewise::sim::add_inline_caches;

namespace {

std::string number_of_caches(const std::string& assembly) {
  const std::string comm = "\t.comm\ttilewise_inline_caches,";
  const std::size_t at = assembly.find(comm);
  if (at == std::string::npos) return "none";
  return std::to_string(std::stoul(assembly.substr(at + comm.size())) / 64);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("Each hook of a plain access is called after a look into a cache", "[inline-caches]") {
  const std::string read = add_inline_caches("f:\n\tcall\t__tsan_read4@PLT\n\tret\n");
  CHECK(contains(read,
                 "f:\n\tmovq\t%rdi, %rax\n\tsubq\ttilewise_inline_caches+0(%rip), %rax\n\trorq\t$2, %rax\n"
                 "\tcmpq\ttilewise_inline_caches+0+8(%rip), %rax\n\tjb\t1f\n"
                 "\tleaq\ttilewise_inline_caches+0(%rip), %rsi\n\tmovl\t$0, %edx\n"
                 "\tcall\ttilewise_read4_cached@PLT\n1:\n\tret\n"));
  CHECK(number_of_caches(read) == "1");
  CHECK(contains(read, ".fini_array"));
  for (const std::string bytes : {"1", "2", "4", "8", "16"}) {
    INFO(bytes);
    const std::string two =
        add_inline_caches("\tcallq\t__tsan_read" + bytes + "\n\tcallq\t__tsan_write" + bytes + "@PLT\n");
    CHECK(contains(two, "\tcall\ttilewise_read" + bytes + "_cached@PLT\n"));
    CHECK(contains(two, "\tcall\ttilewise_write" + bytes + "_cached@PLT\n"));
    CHECK(contains(two, "\trorq\t") == (bytes != "1"));
    CHECK(number_of_caches(two) == "2");
  }
  const std::string known = add_inline_caches("\tcall\ttilewise_write2_known5@PLT\n");
  CHECK(contains(known, "\tmovl\t$5, %edx\n\tcall\ttilewise_write2_cached@PLT\n"));
}

TEST_CASE("Each hook is called after a look into a cache on AArch64 as well", "[inline-caches][aarch64]") {
  const std::string read = add_inline_caches("f:\n\tbl\t__tsan_read4\n\tbl\ttilewise_write1_known5\n\tret\n");
  CHECK(contains(read,
                 "f:\n\tadrp\tx1, tilewise_inline_caches+0\n\tadd\tx1, x1, #:lo12:tilewise_inline_caches+0\n"
                 "\tldp\tx3, x4, [x1]\n\tsub\tx3, x0, x3\n\tror\tx3, x3, #2\n\tcmp\tx3, x4\n\tb.lo\t1f\n"
                 "\tmov\tw2, #0\n\tbl\ttilewise_read4_cached\n1:\n"));
  CHECK(contains(read,
                 "\tsub\tx3, x0, x3\n\tcmp\tx3, x4\n\tb.lo\t1f\n\tmov\tw2, #5\n\tbl\ttilewise_write1_cached\n1:\n"));
  CHECK(number_of_caches(read) == "2");
  const std::string iterate = "\tbl\t_ZN8tilewise3sim4Loop7iterateEv\n";
  CHECK(contains(add_inline_caches(iterate), "\tcbz\tw16, 1f\n" + iterate + "1:\n"));
  for (const std::string other : {"\tbl\t__tsan_read_range\n", "\tb\t__tsan_read4\n\tbl\tf\n", "\tblr\tx0\n"})
    CHECK(add_inline_caches(other) == other);
}

TEST_CASE("What is no plain access keeps its call", "[inline-caches]") {
  for (const std::string other : {"__tsan_read3", "__tsan_read", "__tsan_read32", "__tsan_read4_pc",
                                  "__tsan_unaligned_read4", "__tsan_read_range", "__tsan_volatile_read4",
                                  "__tsan_atomic32_load", "__tsan_vptr_read", "tilewise_reader4", "read4", "f"}) {
    const std::string text = "\tcall\t" + other + "@PLT\n.L1:\n\tjmp\t__tsan_read4\n";
    CHECK(add_inline_caches(text) == text);
  }
  CHECK(add_inline_caches("") == "");
  CHECK(add_inline_caches("f:\n\tret") == "f:\n\tret\n");
  const std::string iterate = "\tcall\t_ZN8tilewise3sim4Loop7iterateEv@PLT\n";
  const std::string asked = add_inline_caches(iterate);
  CHECK(contains(asked, "\tje\t1f\n" + iterate + "1:\n"));
  CHECK(number_of_caches(asked) == "none");
}

namespace {

// sum() and fill() are called from the host and from kernels, of memory of every kind: each has one place that reads or writes.
const char* const program = R"(#include <cstdio>
#include <cstdlib>
#include <cstring>
constexpr int kThreads = 64, kRounds = 50000;
__host__ __device__ __noinline__ int sum(const int* p, int n) {
  int s = 0;
  for (int i = 0; i < n; ++i) s += p[i];
  return s;
}
__device__ __noinline__ void fill(int* p, int n, int value) {
  for (int i = 0; i < n; ++i) p[i] = value;
}
__global__ void often(const int* a, int* out, int rounds) {
  int s = 0;
  for (int r = 0; r < rounds; ++r) s += sum(a + threadIdx.x, 1);
  out[threadIdx.x] = s;
}
__global__ void reads(const int* a, const int* other, int* out) {
  int s = 0;
  for (int r = 0; r < kRounds; ++r) s += sum(a + threadIdx.x, 1);
  out[threadIdx.x] = s + sum(other, 1);
}
__global__ void others_stack(const int* a, int* out) {
  __shared__ const int* shown;
  int own[8], s = 0;
  for (int r = 0; r < kRounds; ++r) s += sum(a + threadIdx.x, 1);
  fill(own, 8, s);
  if (threadIdx.x == 0) shown = own;
  __syncthreads();
  out[threadIdx.x] = sum(own, 8) + sum(shown, 8);
  __syncthreads();
}
__global__ void waits(const int* a, int* out, int* counter, int* flag) {
  int s = 0;
  for (int r = 0; r < kRounds; ++r) s += sum(a + threadIdx.x, 1);
  if (threadIdx.x < 32) {
    while (atomicAdd(flag, 0) == 0) {}
  } else if (threadIdx.x == 32) {
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < 5000; ++i) atomicAdd(counter, 1);
      fill(out + 64, 8, round);
    }
    atomicExch(flag, 1);
  }
  out[threadIdx.x] = s;
}
int main(int, char** v) {
  const auto is = [name = std::getenv("CASE")](const char* other) { return std::strcmp(name, other) == 0; };
  const int bytes = 4 * (kThreads + 8);
  int *a, *b, *out, *flag, *host = (int*)std::calloc(bytes, 1);
  cudaMalloc(&a, bytes), cudaMalloc(&b, bytes), cudaMalloc(&out, bytes), cudaMalloc(&flag, 8);
  cudaMemset(a, 0, bytes), cudaMemset(b, 0, bytes), cudaMemset(flag, 0, 8);
  for (int i = 0; i < 1000; ++i) host[0] += sum(host, kThreads);
  if (is("nothing")) reads<<<1, kThreads>>>(a, b, out), often<<<1, kThreads>>>(b, out, kRounds);
  if (is("host-pointer")) reads<<<1, kThreads>>>(a, host, out);
  if (is("use-after-free")) {
    reads<<<1, kThreads>>>(a, b, out);
    cudaFree(b);
    often<<<1, kThreads>>>(b, out, 1);
  }
  if (is("local-of-another")) others_stack<<<1, kThreads>>>(a, out);
  if (is("waits")) waits<<<1, kThreads>>>(a, out, flag + 1, flag);
  if (is("host-too-early")) {
    cudaHostRegister(host, bytes, cudaHostRegisterDefault);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMemcpyAsync(host, a, bytes, cudaMemcpyDeviceToHost, stream);
    host[1] = sum(host, kThreads);
    cudaStreamSynchronize(stream), cudaStreamDestroy(stream), cudaHostUnregister(host);
  }
  if (is("host-access")) host[0] += sum(a, 1);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::free(host), cudaFree(a), cudaFree(out), cudaFree(flag);
  if (!is("use-after-free")) cudaFree(b);
}
)";

}  // namespace

TEST_CASE("A place is asked about again when something has changed", "[inline-caches][findings][races]") {
  Workplace workplace;
  const Outcome compiled = workplace.compile(workplace.write(program));
  INFO(compiled.text);
  REQUIRE(compiled.status == 0);
  const auto run = [&](const std::string& name, const std::string& environment) {
    return workplace.run_app("TILEWISE_POLLS=300000 " + environment + " CASE=" + name);
  };
  for (const std::string races : {"TILEWISE_RACES=1", "TILEWISE_RACES=all"}) {
    const bool in_part = races == "TILEWISE_RACES=1";
    for (const std::string code :
         {"host-pointer", "use-after-free", "local-of-another", "host-too-early", "host-access"}) {
      const Outcome found = run(code, races);
      INFO(races << "\n" << found.text);
      CHECK(contains(found.text, ": " + code + ": "));
      CHECK(found.status == 1);
    }
    // A thread that waits sees that another one gets further, by its stores, and takes it for no deadlock.
    for (const std::string right : {"nothing", "waits"}) {
      const Outcome ran = run(right, races);
      INFO(races << "\n" << ran.text);
      CHECK(ran.status == 0);
      CHECK(contains(ran.text, "cudaSuccess\n"));
      CHECK(contains(ran.text, "made too many accesses") == in_part);
    }
  }
  for (const std::string right : {"nothing", "local-of-another"})
    CHECK(run(right, "TILEWISE_FINDINGS=off").text == "cudaSuccess\n");
}
