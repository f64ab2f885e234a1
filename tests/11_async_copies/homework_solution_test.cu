// The homework's solution, on this machine (a GPU, too): right on many shapes, nothing written beside its output, no
// input changed. How submissions are graded is tested by `grade --check-bank`.
#include "homework/solution.cu"

#include <algorithm>
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

}  // namespace

TEST_CASE("homework, solution: a pattern in a recording", "[homework]") {
  const std::pair<int, int> shapes[]{{1, 1}, {128, 128}, {129, 127}, {127, 129}, {5, 700}, {300, 1}, {260, 257}};
  for (const auto& [positions, length] : shapes) {
    INFO("positions = " << positions << ", length = " << length);
    const std::size_t places = std::size_t(positions), words = std::size_t(length);
    const std::vector<float> recording = tilewise::random_vector(places + words - 1, 1),
                             searched = tilewise::random_vector(words, 2);
    GuardedMatrix x(recording), pattern(searched), score(nothing(places));
    REQUIRE(launch_match(x.data(), pattern.data(), score.data(), positions, length) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<double> sums(places), bound;
    for (std::size_t s = 0; s < places; ++s) {
      double magnitude = 0;
      for (std::size_t i = 0; i < words; ++i) {
        const double product = double{searched[i]} * double{recording[s + i]};
        sums[s] += product, magnitude += std::abs(product);
      }
      bound.push_back(tilewise::error_bound(words, magnitude));
    }
    CHECK(wrong(score.values(), sums, bound) == 0);
    CHECK(score.margins_intact());
    CHECK(x.intact());
    CHECK(pattern.intact());
  }
}

TEST_CASE("homework, solution: a mean of 3 x 3 pixels", "[homework]") {
  const std::pair<int, int> shapes[]{{1, 1}, {32, 128}, {33, 129}, {31, 127}, {2, 300}, {100, 3}, {64, 256}, {97, 140}};
  for (const auto& [rows, cols] : shapes) {
    INFO(rows << " x " << cols);
    const std::size_t height = std::size_t(rows), width = std::size_t(cols);
    const std::vector<float> picture = tilewise::random_vector(height * width, 3);
    GuardedMatrix in(picture), out(nothing(height * width));
    REQUIRE(launch_blur(in.data(), out.data(), rows, cols) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<double> means, bound;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        double sum = 0, magnitude = 0;
        for (int i = std::max(r - 1, 0); i <= std::min(r + 1, rows - 1); ++i) {
          for (int j = std::max(c - 1, 0); j <= std::min(c + 1, cols - 1); ++j) {
            const double pixel{picture[std::size_t(i) * width + std::size_t(j)]};
            sum += pixel, magnitude += std::abs(pixel);
          }
        }
        means.push_back(sum / 9);
        bound.push_back(tilewise::error_bound(12, magnitude / 9));
      }
    }
    CHECK(wrong(out.values(), means, bound) == 0);
    CHECK(out.margins_intact());
    CHECK(in.intact());
  }
}
