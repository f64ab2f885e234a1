// The homework's solution, on this machine (a GPU, too): right on many shapes, nothing written beside its output, no
// input changed, counters put back, the same bits in a second call. How submissions are graded is tested by
// `grade --check-bank`.
#include "homework/solution.cu"

#include <algorithm>
#include <cmath>
#include <cstring>
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

struct Layer {
  int M, N, K, slices;
};

}  // namespace

TEST_CASE("homework, solution: a symmetric product from its lower tiles", "[homework]") {
  const std::vector<std::pair<int, int>> shapes{{1, 1},   {32, 32},  {33, 31}, {64, 20}, {5, 7},
                                                {100, 1}, {96, 100}, {97, 33}, {2, 500}, {230, 5}};
  for (const auto& [N, K] : shapes) {
    INFO("N = " << N << ", K = " << K);
    const std::size_t height = std::size_t(N), width = std::size_t(K);
    const std::vector<float> a = tilewise::random_vector(height * width, 1);
    GuardedMatrix A(a), S(nothing(height * height));
    REQUIRE(launch_similarities(A.data(), S.data(), N, K) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<double> sums(height * height), bound;
    for (std::size_t i = 0; i < height; ++i) {
      for (std::size_t j = 0; j < height; ++j) {
        double magnitude = 0;
        for (std::size_t k = 0; k < width; ++k) {
          const double product = double{a[i * width + k]} * double{a[j * width + k]};
          sums[i * height + j] += product, magnitude += std::abs(product);
        }
        bound.push_back(tilewise::error_bound(width, magnitude));
      }
    }
    CHECK(wrong(S.values(), sums, bound) == 0);
    CHECK(S.margins_intact());
    CHECK(A.intact());
  }
}

TEST_CASE("homework, solution: a layer whose k is cut into slices", "[homework]") {
  const std::vector<Layer> layers{{1, 1, 1, 1},       {32, 32, 64, 2},  {33, 31, 100, 7},
                                  {5, 70, 3, 6},      {64, 96, 256, 8}, {8, 40, 999, 3},
                                  {1, 2, 2000, 1000}, {7, 5, 0, 4},     {70, 9, 41, 1}};
  for (const auto& [M, N, K, slices] : layers) {
    INFO("M = " << M << ", N = " << N << ", K = " << K << ", slices = " << slices);
    const std::size_t height = std::size_t(M), width = std::size_t(N), depth = std::size_t(K);
    const std::vector<float> x = tilewise::random_vector(height * depth, 1),
                             w = tilewise::random_vector(depth * width, 2), b = tilewise::random_vector(width, 3);
    GuardedMatrix X(x), W(w), bias(b), Y(nothing(height * width)), again(nothing(height * width)),
        parts(nothing(std::size_t(slices) * height * width));
    const int counters = (M + 31) / 32 * ((N + 31) / 32);
    GuardedMatrix arrived(std::vector<float>(std::size_t(counters), 0.0f));  // as words: 0 is 0 in both types
    for (float* y : {Y.data(), again.data()}) {
      REQUIRE(launch_sliced_layer(X.data(), W.data(), bias.data(), y, M, N, K, slices, parts.data(),
                                  reinterpret_cast<int*>(arrived.data())) == cudaSuccess);
    }
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<double> sums, bound;
    for (std::size_t i = 0; i < height; ++i) {
      for (std::size_t j = 0; j < width; ++j) {
        double sum = double{b[j]}, magnitude = std::abs(sum);
        for (std::size_t k = 0; k < depth; ++k) {
          const double product = double{x[i * depth + k]} * double{w[k * width + j]};
          sum += product, magnitude += std::abs(product);
        }
        sums.push_back(std::max(0.0, sum));
        bound.push_back(tilewise::error_bound(depth + std::size_t(slices) + 1, magnitude));
      }
    }
    const std::vector<float> first = Y.values(), second = again.values();
    CHECK(wrong(first, sums, bound) == 0);
    CHECK(std::memcmp(first.data(), second.data(), first.size() * sizeof(float)) == 0);
    CHECK(Y.margins_intact());
    CHECK(again.margins_intact());
    CHECK(parts.margins_intact());
    CHECK(arrived.intact());
    CHECK(X.intact());
    CHECK(W.intact());
    CHECK(bias.intact());
  }
}
