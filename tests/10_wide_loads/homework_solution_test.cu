// The homework's solution, on this machine (a GPU, too): right on many shapes, nothing written beside its output, no
// input changed. How submissions are graded is tested by `grade --check-bank`.
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

const std::vector<std::pair<int, int>> kShapes{{1, 1},   {32, 32}, {33, 31}, {36, 20},  {5, 7},   {1, 100},
                                               {100, 1}, {64, 96}, {65, 97}, {2, 1000}, {130, 70}};

}  // namespace

TEST_CASE("homework, solution: a matrix times a vector", "[homework]") {
  for (const auto& [rows, cols] : kShapes) {
    INFO(rows << " x " << cols);
    const std::size_t height = std::size_t(rows), width = std::size_t(cols);
    const std::vector<float> a = tilewise::random_vector(height * width, 1), values = tilewise::random_vector(width, 2);
    GuardedMatrix A(a), x(values), y(nothing(height));
    REQUIRE(launch_row_dots(A.data(), x.data(), y.data(), rows, cols) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<double> sums(height), bound;
    for (std::size_t r = 0; r < height; ++r) {
      double magnitude = 0;
      for (std::size_t c = 0; c < width; ++c) {
        const double product = double{a[r * width + c]} * double{values[c]};
        sums[r] += product, magnitude += std::abs(product);
      }
      bound.push_back(tilewise::error_bound(width, magnitude));
    }
    CHECK(wrong(y.values(), sums, bound) == 0);
    CHECK(y.margins_intact());
    CHECK(A.intact());
    CHECK(x.intact());
  }
}

TEST_CASE("homework, solution: products of columns", "[homework]") {
  for (const auto& [N, K] : kShapes) {
    INFO("N = " << N << ", K = " << K);
    const std::size_t width = std::size_t(N), height = std::size_t(K);
    const std::vector<float> a = tilewise::random_vector(height * width, 3);
    GuardedMatrix A(a), G(nothing(width * width));
    REQUIRE(launch_gram(A.data(), G.data(), N, K) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<double> sums(width * width), bound(width * width);
    for (std::size_t i = 0; i < width; ++i) {
      for (std::size_t j = 0; j < width; ++j) {
        double magnitude = 0;
        for (std::size_t k = 0; k < height; ++k) {
          const double product = double{a[k * width + i]} * double{a[k * width + j]};
          sums[i * width + j] += product, magnitude += std::abs(product);
        }
        bound[i * width + j] = tilewise::error_bound(height, magnitude);
      }
    }
    CHECK(wrong(G.values(), sums, bound) == 0);
    CHECK(G.margins_intact());
    CHECK(A.intact());
  }
}
