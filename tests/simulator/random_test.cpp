// cuRAND: the numbers that a GPU gives, and what is refused.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "catch.hpp"
#include "workplace.hpp"

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    if (!line.starts_with("tilewise: curandGenerate and its kin")) lines.push_back(line);
  return lines;
}

/// Words that are there in both: equal, or numbers with a fraction that differ by rounding.
bool agree(const std::string& a, const std::string& b) {
  if (a == b) return true;
  if (a.find('.') == std::string::npos || b.find('.') == std::string::npos) return false;
  const double x = std::atof(a.c_str()), y = std::atof(b.c_str());
  return std::abs(x - y) <= 3e-6 * std::max(1.0, std::abs(y));
}

std::string first_difference(const std::string& ours, const std::string& gpus) {
  std::istringstream a(ours), b(gpus);
  for (std::string x, y; a >> x || b >> y;) {
    if (y.empty()) b >> y;
    if (!agree(x, y)) return x + " for " + y;
    x.clear(), y.clear();
  }
  return "";
}

}  // namespace

TEST_CASE("cuRAND's numbers are those of a GPU", "[random]") {
  const std::string folder = std::string(TILEWISE_SOURCE_DIR) + "/tests/simulator/random/";
  std::ifstream stream(folder + "numbers.txt");
  const auto expected = lines_of({std::istreambuf_iterator<char>(stream), {}});
  REQUIRE(expected.size() == 84);
  for (const std::string& compiler : compilers()) {
    const Workplace workplace;
    const Outcome compiled = workplace.compile(folder + "numbers.cu", "--cxx=" + compiler);
    REQUIRE(compiled.text.empty());
    const Outcome ran = workplace.run_app();
    CHECK(ran.status == 0);
    const auto lines = lines_of(ran.text);
    REQUIRE(lines.size() == expected.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      INFO(expected[i]);
      CHECK(first_difference(lines[i], expected[i]) == "");
    }
  }
}

TEST_CASE("cuRAND into memory that is not the device's, or too small, is a finding", "[random]") {
  for (const auto& [pointer, n, what] :
       {std::tuple{"host", "8", "host-pointer: curandGenerate: the output (8 elements) is host memory"},
        std::tuple{"device", "9", "out-of-bounds"}}) {
    const Workplace workplace;
    const std::string program = R"(#include <curand.h>
#include <cstdio>
int main() {
  unsigned host[16], *device;
  cudaMalloc(&device, 8 * sizeof(unsigned));
  curandGenerator_t g;
  curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT);
  std::printf("%d\n", curandGenerate(g, )" +
                                std::string(pointer) + ", " + n + R"());
})";
    REQUIRE(workplace.compile(workplace.write(program)).status == 0);
    const Outcome ran = workplace.run_app();
    INFO(ran.text);
    CHECK(ran.text.find("201\n") != std::string::npos);
    CHECK(ran.text.find(what) != std::string::npos);
    CHECK(ran.text.find("program.cu:8") != std::string::npos);
  }
}

TEST_CASE("cuRAND's states in global memory are loaded and stored as kernels are written", "[random]") {
  const Workplace workplace;
  const std::string program = R"(#include <curand_kernel.h>
#include <cstdio>
__global__ void begin(curandState* states) { curand_init(1, threadIdx.x, 0, &states[threadIdx.x]); }
__global__ void count(int n, curandState* states, int* inside) {
  curandState state = states[threadIdx.x];
  int mine = 0;
  for (int i = 0; i < n; ++i) {
    const float x = curand_uniform(&state), y = curand_uniform(&state);
    mine += x * x + y * y < 1;
  }
  states[threadIdx.x] = state;
  atomicAdd(inside, mine);
}
int main() {
  curandState* states;
  int* inside;
  cudaMalloc(&states, 256 * sizeof(curandState));
  cudaMallocManaged(&inside, sizeof(int));
  *inside = 0;
  begin<<<1, 256>>>(states);
  count<<<1, 256>>>(1000, states, inside);
  cudaDeviceSynchronize();
  std::printf("pi is about %.2f\n", *inside * 4 / 256000.0);
  cudaFree(states), cudaFree(inside);
})";
  for (const std::string& compiler : compilers()) {
    REQUIRE(workplace.compile(workplace.write(program), "--cxx=" + compiler).status == 0);
    CHECK(workplace.run_app().text == "pi is about 3.15\n");
  }
}

TEST_CASE("What cuRAND has and the simulator lacks is refused by name", "[random][silent]") {
  refuses("cuRAND's MRG32k3a (curandStateMRG32k3a_t)",
          "#include <curand_kernel.h>\n__device__ void f(curandStateMRG32k3a_t* s);\nint main() {}\n");
  refuses("cuRAND's Sobol sequences (curandStateSobol32_t)",
          "#include <curand_kernel.h>\n__device__ void f(curandStateSobol32_t* s);\nint main() {}\n");
  refuses("does not support curand_poisson",
          "#include <curand_kernel.h>\n__global__ void k(curandState* s) { curand_poisson(s, 2.0); }\nint main() {}\n");
  refuses("does not support curandGeneratePoisson",
          "#include <curand.h>\nint main() { curandGeneratePoisson(curandGenerator_t{}, (unsigned*)nullptr, size_t(1), "
          "2.0); }\n");
  const Workplace workplace;
  REQUIRE(workplace
              .compile(workplace.write(R"(#include <curand.h>
#include <cstdio>
int main() {
  curandGenerator_t g;
  std::printf("%d\n", curandCreateGenerator(&g, CURAND_RNG_PSEUDO_MT19937));
})"))
              .status == 0);
  const Outcome ran = workplace.run_app();
  CHECK(ran.text.find("103\n") != std::string::npos);
  CHECK(ran.text.find("does not support curandCreateGenerator with this type of generator") != std::string::npos);
}
