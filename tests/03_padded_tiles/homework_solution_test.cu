// The homework's solution, on this machine (a GPU, too): right on many shapes, nothing written beside its output, no
// input changed, and the same bits twice. How submissions are graded is tested by `grade --check-bank`.
#include "homework/solution.cu"

#include <cmath>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "guarded_memory.hpp"
#include "tilewise/random.hpp"

namespace {

/// How many elements are beyond their bound.
int wrong(const std::vector<float>& got, const std::vector<double>& expected, const std::vector<double>& bound) {
  int count = 0;
  for (std::size_t i = 0; i < got.size(); ++i) count += !tilewise::element_ok(got[i], expected[i], bound[i]);
  return count;
}

std::vector<float> nothing(std::size_t size) { return std::vector<float>(size, NAN); }

const std::vector<std::pair<int, int>> kShapes{{1, 1},   {32, 32}, {33, 31}, {31, 33},  {5, 7},   {1, 100},
                                               {100, 1}, {64, 96}, {65, 97}, {2, 1000}, {130, 70}};

}  // namespace

TEST_CASE("homework, solution: sums of records", "[homework]") {
  for (const int n : {1, 2, 3, 31, 32, 33, 64, 65, 1000}) {
    INFO("n = " << n);
    const std::vector<float> values = tilewise::random_vector(8 * std::size_t(n), 1);
    GuardedMatrix x(values), y(nothing(std::size_t(n)));
    REQUIRE(launch_record_sums(x.data(), y.data(), n) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<double> sums(static_cast<std::size_t>(n)), bound;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      double magnitude = 0;
      for (std::size_t j = 8 * i; j < 8 * i + 8; ++j) sums[i] += values[j], magnitude += std::abs(values[j]);
      bound.push_back(tilewise::error_bound(8, magnitude));
    }
    CHECK(wrong(y.values(), sums, bound) == 0);
    CHECK(y.margins_intact());
    CHECK(x.intact());
  }
}

TEST_CASE("homework, solution: running sums, turned round", "[homework]") {
  for (const auto& [rows, cols] : kShapes) {
    INFO(rows << " x " << cols);
    const std::size_t height = std::size_t(rows), width = std::size_t(cols);
    const std::vector<float> values = tilewise::random_vector(height * width, 2);
    GuardedMatrix in(values), out(nothing(height * width));
    REQUIRE(launch_running_sums_turned(in.data(), out.data(), rows, cols) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<double> sums(height * width), bound(height * width);
    for (std::size_t r = 0; r < height; ++r) {
      double sum = 0, magnitude = 0;
      for (std::size_t c = 0; c < width; ++c) {
        sum += values[r * width + c], magnitude += std::abs(values[r * width + c]);
        sums[c * height + r] = sum, bound[c * height + r] = tilewise::error_bound(c + 1, magnitude);
      }
    }
    CHECK(wrong(out.values(), sums, bound) == 0);
    CHECK(out.margins_intact());
    CHECK(in.intact());
  }
}

TEST_CASE("homework, solution: sums by key", "[homework]") {
  for (const auto& [rows, cols] : kShapes) {
    INFO(rows << " x " << cols);
    const std::size_t height = std::size_t(rows), words = height * std::size_t(cols);
    const std::vector<float> values = tilewise::random_vector(words, 3);
    tilewise::Random random(4);
    std::vector<int> keys;
    for (std::size_t i = 0; i < words; ++i) keys.push_back(random.below(2) ? 17 : int(random.below(KEYS)));
    std::vector<double> sums(height * KEYS), magnitude(height * KEYS), bound;
    std::vector<std::size_t> count(height * KEYS);
    for (std::size_t i = 0; i < words; ++i) {
      const std::size_t at = i / std::size_t(cols) * KEYS + std::size_t(keys[i]);
      sums[at] += values[i], magnitude[at] += std::abs(values[i]), ++count[at];
    }
    for (std::size_t i = 0; i < sums.size(); ++i) bound.push_back(tilewise::error_bound(count[i], magnitude[i]));
    tilewise::DeviceBuffer<int> device_keys(words);
    device_keys.upload(keys);
    GuardedMatrix device_values(values), first(nothing(sums.size())), second(nothing(sums.size()));
    for (GuardedMatrix* result : {&first, &second})
      REQUIRE(launch_sums_by_key(device_keys.data(), device_values.data(), result->data(), rows, cols) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(wrong(first.values(), sums, bound) == 0);
    CHECK(first.values() == second.values());
    CHECK(first.margins_intact());
    CHECK(device_values.intact());
    CHECK(device_keys.to_host() == keys);
  }
}
