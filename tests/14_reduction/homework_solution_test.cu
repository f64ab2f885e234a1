// The homework's solution, on this machine (a GPU, too): right on many sizes and from any float on, nothing written beside its
// output, no input changed, the counter put back, the same bits in a second call. How submissions are graded is tested by
// `grade --check-bank`.
#include "homework/solution.cu"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "guarded_memory.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/random.hpp"

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Expected {
  float least = kInfinity, largest = -kInfinity;
  int count = 0;
};

/// Calls the solution twice on the elements of x, which are in the middle of an array that is NaN elsewhere, and checks both calls.
void check_min_max(const std::vector<float>& x, std::size_t offset) {
  Expected expected;
  for (const float v : x)
    if (!std::isnan(v)) expected = {std::min(expected.least, v), std::max(expected.largest, v), expected.count + 1};
  std::vector<float> shifted(offset, NAN);
  shifted.insert(shifted.end(), x.begin(), x.end());
  GuardedMatrix elements(shifted), parts(std::vector<float>(1024, NAN));
  const tilewise::DeviceBuffer<int> part_counts(std::vector<int>(512, -1));
  tilewise::DeviceBuffer<int> arrived(std::vector<int>(3, 0));
  for (int call = 0; call < 2; ++call) {
    GuardedMatrix range(std::vector<float>(2, NAN));
    tilewise::DeviceBuffer<int> count(std::vector<int>(3, -7));
    REQUIRE(launch_min_max_count(elements.data() + offset, int(x.size()), range.data(), count.data() + 1, parts.data(),
                                 const_cast<int*>(part_counts.data()), arrived.data() + 1) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(range.values() == std::vector<float>{expected.least, expected.largest});
    CHECK(count.to_host() == std::vector<int>{-7, expected.count, -7});
    CHECK(arrived.to_host() == std::vector<int>{0, 0, 0});
    CHECK(range.margins_intact());
    CHECK(parts.margins_intact());
    CHECK(elements.intact());
  }
}

}  // namespace

TEST_CASE("homework, solution: the least, the largest and the count", "[homework]") {
  for (const std::size_t n : {0, 1, 2, 3, 4, 5, 7, 31, 32, 33, 255, 256, 257, 1023, 4095, 4096, 4097, 20003, 300001}) {
    for (const std::size_t offset : {0, 1, 2, 3}) {
      if (n > 5000 && offset > 1) continue;
      INFO("n = " << n << ", offset = " << offset);
      for (const int kind : {0, 1, 2}) {  // numbers of both signs; all negative, with NaNs; NaNs alone
        std::vector<float> x = tilewise::random_vector(n, n + 1);
        for (std::size_t i = 0; i < n && kind > 0; ++i) x[i] = kind == 2 || i % 5 == 0 ? NAN : x[i] - 2;
        check_min_max(x, offset);
      }
    }
  }
}

TEST_CASE("homework, solution: infinities and zeros of both signs", "[homework]") {
  check_min_max({kInfinity, kInfinity}, 0);
  check_min_max({-kInfinity, NAN, 3}, 0);
  check_min_max({-0.0f, 0.0f}, 0);
  check_min_max({std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()}, 0);
}

TEST_CASE("homework, solution: the logarithm of a sum of exponentials", "[homework]") {
  const std::vector<std::pair<int, int>> shapes{{1, 1},    {5, 2},    {9, 31},   {9, 32},  {17, 33},
                                                {3, 1000}, {2, 2048}, {2, 2049}, {3, 5003}};
  for (const auto& [M, N] : shapes) {
    for (const float middle : {0.0f, 300.0f, -300.0f}) {  // exp(300) and exp(-300) are no floats
      INFO("M = " << M << ", N = " << N << ", elements around " << middle);
      const std::size_t height = std::size_t(M), width = std::size_t(N);
      std::vector<float> a = tilewise::random_vector(height * width, 1);
      for (float& v : a) v = middle + 4 * v;
      for (std::size_t j = 0; j < width; ++j) {
        if (height > 1) a[width + j] = -kInfinity;                       // a row without anything else
        if (height > 2 && j + 1 < width) a[2 * width + j] = -kInfinity;  // one whose last element alone counts
      }
      GuardedMatrix A(a), L(std::vector<float>(height, NAN));
      REQUIRE(launch_row_log_sum_exp(A.data(), L.data(), M, N) == cudaSuccess);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      const std::vector<float> got = L.values();
      int wrong = 0;
      for (std::size_t i = 0; i < height; ++i) {
        double sum = 0;  // in double, exp(304) is a number
        for (std::size_t j = 0; j < width; ++j) sum += std::exp(double{a[i * width + j]});
        const double expected = std::log(sum);
        // N additions and scalings by exp(), which is good to two units in the last place, and whose argument is rounded.
        const double bound = tilewise::error_bound(6 * width + 40, 1) + 0x1p-24 * (4 * 8 + 6 * std::abs(expected));
        wrong += !tilewise::element_ok(got[i], expected, std::isinf(expected) ? 0 : bound);
      }
      CHECK(wrong == 0);
      CHECK(L.margins_intact());
      CHECK(A.intact());
    }
  }
}
