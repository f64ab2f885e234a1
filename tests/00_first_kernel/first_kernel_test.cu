// Chapter 00: the kernels on every kind of size, and the wrong kernels that the same check must reject.
#include "first_kernel.cuh"

#include <limits>
#include <vector>

#include "00_first_kernel/check_brighten.hpp"
#include "00_first_kernel/mutants/mutants.cuh"
#include "catch.hpp"
#include "tilewise/counters.hpp"

namespace {

struct Kernel {
  const char* name;
  BrightenLaunch launch;
};

const Kernel kernels[] = {
    {"one thread",
     [](const float* in, float* out, int w, int h) { return launch_brighten_one_thread(in, out, w * h); }},
    {"blocks of 1", [](const float* in, float* out, int w, int h) { return launch_brighten(in, out, w * h, 1); }},
    {"blocks of 33", [](const float* in, float* out, int w, int h) { return launch_brighten(in, out, w * h, 33); }},
    {"blocks of 256", [](const float* in, float* out, int w, int h) { return launch_brighten(in, out, w * h, 256); }},
    {"blocks of 1024", [](const float* in, float* out, int w, int h) { return launch_brighten(in, out, w * h, 1024); }},
    {"32 x 8",
     [](const float* in, float* out, int w, int h) {
       return launch_brighten_2d(in, out, w, h, {32, 8});
     }},
    {"5 x 7",
     [](const float* in, float* out, int w, int h) {
       return launch_brighten_2d(in, out, w, h, {5, 7});
     }},
};

}  // namespace

TEST_CASE("pictures get brighter, whatever their size", "[brighten]") {
  for (const auto& [width, height] : {MatrixShape{0, 0},
                                      {0, 3},
                                      {3, 0},
                                      {1, 1},
                                      {31, 1},
                                      {33, 1},
                                      {255, 1},
                                      {256, 1},
                                      {257, 1},
                                      {1, 257},
                                      {44, 14},
                                      {64, 16},
                                      {33, 9},
                                      {1021, 3}}) {
    for (const Kernel& kernel : kernels) {
      const Verdict verdict = check_brighten(kernel.launch, width, height);
      INFO(kernel.name << ", " << width << " x " << height << ": " << verdict.text);
      REQUIRE(verdict.right());
      REQUIRE(verdict.comparison.checked == static_cast<std::size_t>(width) * height);
    }
  }
}

TEST_CASE("a million pixels and three", "[brighten]") {
  for (const Kernel& kernel : kernels) {
    if (kernel.name == std::string("blocks of 1")) continue;  // a million blocks of one thread show nothing new
    const Verdict verdict = check_brighten(kernel.launch, 1000003, 1);
    INFO(kernel.name << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("what is not a number stays one, and stays where it is", "[brighten]") {
  std::vector<float> picture = random_picture(44 * 14, 3);
  picture[0] = picture[255] = picture[256] = picture[615] = std::numeric_limits<float>::quiet_NaN();
  picture[43] = std::numeric_limits<float>::infinity();
  picture[44] = -1.0f;  // has no square root: NaN
  picture[45] = 0.0f;
  picture[46] = std::numeric_limits<float>::denorm_min();
  for (const Kernel& kernel : kernels) {
    const Verdict verdict = check_brighten(kernel.launch, picture, 44, 14);
    INFO(kernel.name << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
  using namespace brighten_mutants;
  REQUIRE(check_brighten(launch<Bug::nan_is_black>, picture, 44, 14).has(Fault::wrong_value));
}

TEST_CASE("what cannot be launched is refused, and the result is left alone", "[brighten]") {
  GuardedMatrix in(std::vector<float>(16, 1.0f)), out(std::vector<float>(16, 3.0f));
  REQUIRE(launch_brighten_one_thread(in.data(), out.data(), -1) == cudaErrorInvalidValue);
  REQUIRE(launch_brighten(in.data(), out.data(), -1, 256) == cudaErrorInvalidValue);
  REQUIRE(launch_brighten(in.data(), out.data(), kMostPixels + 1, 256) == cudaErrorInvalidValue);
  REQUIRE(launch_brighten(in.data(), out.data(), 16, 0) == cudaErrorInvalidValue);
  REQUIRE(launch_brighten(in.data(), out.data(), 16, 1025) != cudaSuccess);
  REQUIRE(launch_brighten_2d(in.data(), out.data(), -4, 4, {32, 8}) == cudaErrorInvalidValue);
  REQUIRE(launch_brighten_2d(in.data(), out.data(), 4, -4, {32, 8}) == cudaErrorInvalidValue);
  REQUIRE(launch_brighten_2d(in.data(), out.data(), 1 << 16, 1 << 16, {32, 8}) == cudaErrorInvalidValue);
  REQUIRE(launch_brighten_2d(in.data(), out.data(), 4, 4, {64, 32}) != cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(cudaGetLastError() == cudaSuccess);  // a refused launch leaves nothing behind
  REQUIRE(out.intact());
}

#ifdef TILEWISE_SIMULATOR

TEST_CASE("a warp's 32 pixels are one request; one thread makes as many as there are pixels", "[counts]") {
  constexpr int n = 1024;
  const tilewise::DeviceBuffer<float> in(random_picture(n, 1));
  tilewise::DeviceBuffer<float> out(n);
  const auto requests = [&](const std::function<cudaError_t()>& launch) {
    const tilewise::Counts counts = tilewise::count([&] { REQUIRE(launch() == cudaSuccess); }).value();
    CHECK(counts.dram_bytes_at_least == 2 * 4 * n);
    return counts.global_load_requests;
  };
  CHECK(requests([&] { return launch_brighten_one_thread(in.data(), out.data(), n); }) == n);
  CHECK(requests([&] { return launch_brighten(in.data(), out.data(), n, 256); }) == n / 32);
  CHECK(requests([&] { return launch_brighten_2d(in.data(), out.data(), 64, 16, {32, 8}); }) == n / 32);
}

#endif

TEST_CASE("every wrong kernel is rejected, and for its own mistake", "[mutants]") {
  using namespace brighten_mutants;
  REQUIRE(check_brighten_mutant(launch<Bug::none>).right());
  REQUIRE(check_brighten_mutant(launch_flat<FlatBug::none>).right());
  for (const Mutant& mutant : mutants) {
    const Verdict verdict = check_brighten_mutant(mutant.launch);
    INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
    CHECK(verdict.has(mutant.fault));
    CHECK_FALSE(verdict.has(Fault::launch_failed));
  }
}
