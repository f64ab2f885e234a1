// The homework's solution, on this machine (a GPU, too): right on many shapes, nothing written beside its output, no
// input changed. How submissions are graded is tested by `grade --check-bank`.
#include "homework/solution.cu"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "guarded_memory.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/random.hpp"

namespace {

std::vector<float> nothing(std::size_t size) { return std::vector<float>(size, NAN); }

/// Multiples of 1/4 from -250 to 250.
std::vector<float> quarters(std::size_t size, std::uint64_t seed) {
  std::vector<float> values = tilewise::random_vector(size, seed);
  for (float& v : values) v = std::round(v * 1000) / 4;
  return values;
}

/// 1 to 33, and infinity where the last digit says so.
std::vector<float> prices(std::size_t size, std::uint64_t seed) {
  std::vector<float> values = tilewise::random_vector(size, seed);
  for (float& v : values) v = v > 0.75f ? INFINITY : 16 * v + 17;
  return values;
}

std::vector<int> nearest(const std::vector<float>& x, const std::vector<float>& levels) {
  std::vector<int> index;
  for (const float sample : x) {
    int at = -1;
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const float distance = std::abs(sample - levels[l]);
      if (distance < (at < 0 ? INFINITY : std::abs(sample - levels[static_cast<std::size_t>(at)])))
        at = static_cast<int>(l);
    }
    index.push_back(at);
  }
  return index;
}

}  // namespace

TEST_CASE("homework, solution: the nearest level", "[homework]") {
  struct Shape {
    int n, count;
  };
  for (const auto& [n, count] : {Shape{1, 1}, {1024, 16}, {1025, 1024}, {1023, 200}, {3000, 7}, {129, 129}}) {
    INFO("n = " << n << ", count = " << count);
    std::vector<float> samples = quarters(std::size_t(n), 1);
    for (std::size_t i = 3; i < samples.size(); i += 31) samples[i] = NAN;
    const std::vector<float> values = quarters(std::size_t(count), 2);
    GuardedMatrix x(samples), levels(values);
    std::vector<int> after(samples.size() + 64, -77);  // and what lies beyond the indices
    tilewise::DeviceBuffer<int> index(after.size());
    index.upload(after);
    REQUIRE(launch_nearest_level(x.data(), levels.data(), index.data(), n, count) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<int> expected = nearest(samples, values);
    expected.resize(after.size(), -77);
    index.download(after);
    CHECK(after == expected);
    CHECK(x.intact());
    CHECK(levels.intact());
  }
}

TEST_CASE("homework, solution: the cheapest trips", "[homework]") {
  struct Shape {
    int M, N, K;
  };
  for (const auto& [M, N, K] :
       {Shape{1, 1, 1}, {32, 32, 8}, {33, 31, 9}, {5, 7, 0}, {100, 3, 2}, {1, 200, 33}, {64, 96, 40}}) {
    INFO("M = " << M << ", N = " << N << ", K = " << K);
    const std::size_t rows = std::size_t(M), cols = std::size_t(N), depth = std::size_t(K);
    const std::vector<float> a = prices(rows * depth, 3), b = prices(depth * cols, 4);
    GuardedMatrix A(a), B(b), C(nothing(rows * cols));
    REQUIRE(launch_cheapest(A.data(), B.data(), C.data(), M, N, K) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<float> expected(rows * cols, INFINITY);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < cols; ++j)
        for (std::size_t k = 0; k < depth; ++k)
          expected[i * cols + j] = std::min(expected[i * cols + j], a[i * depth + k] + b[k * cols + j]);
    CHECK(C.values() == expected);
    CHECK(C.margins_intact());
    CHECK(A.intact());
    CHECK(B.intact());
  }
  CHECK(launch_cheapest(nullptr, nullptr, nullptr, 0, 5, 3) == cudaSuccess);
  CHECK(launch_cheapest(nullptr, nullptr, nullptr, 5, 0, 3) == cudaSuccess);
}
