// The homework's solution, on this machine (a GPU, too): right on many shapes, nothing written beside its output, no
// input changed. How submissions are graded is tested by `grade --check-bank`.
#include "homework/solution.cu"

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "guarded_memory.hpp"
#include "tilewise/random.hpp"
#include "tilewise/reference.hpp"

namespace {

std::vector<float> turned(const std::vector<float>& matrix, std::size_t rows, std::size_t cols) {
  std::vector<float> result(matrix.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) result[j * rows + i] = matrix[i * cols + j];
  return result;
}

const std::vector<std::vector<int>> kShapes{{1, 1, 1},    {32, 32, 32}, {33, 31, 32}, {5, 7, 3},    {1, 100, 7},
                                            {100, 1, 7},  {7, 100, 1},  {64, 64, 9},  {17, 49, 65}, {97, 3, 129},
                                            {31, 33, 63}, {2, 65, 96},  {130, 70, 50}};

}  // namespace

TEST_CASE("homework, solution: products with one matrix turned round", "[homework]") {
  for (const auto& s : kShapes) {
    const int M = s[0], N = s[1], K = s[2];
    INFO("M = " << M << ", N = " << N << ", K = " << K);
    const tilewise::MatmulShape shape{std::size_t(M), std::size_t(N), std::size_t(K)};
    const std::vector<float> A = tilewise::random_vector(shape.m * shape.k, 1),
                             B = tilewise::random_vector(shape.k * shape.n, 2);
    const tilewise::MatmulReference reference(A, B, shape);
    const std::vector<float> poison(shape.m * shape.n, NAN);
    for (const bool first : {true, false}) {
      GuardedMatrix a(first ? turned(A, shape.m, shape.k) : A), b(first ? B : turned(B, shape.k, shape.n)), c(poison);
      const cudaError_t error = first ? launch_matmul_at_b(a.data(), b.data(), c.data(), M, N, K)
                                      : launch_matmul_a_bt(a.data(), b.data(), c.data(), M, N, K);
      REQUIRE(error == cudaSuccess);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      CHECK(reference.check(c.values()).text().substr(0, 5) == "right");
      CHECK(c.margins_intact());
      CHECK(a.intact());
      CHECK(b.intact());
    }
  }
}

TEST_CASE("homework, solution: sums of five neighbours", "[homework]") {
  for (const int n : {1, 2, 3, 4, 5, 127, 128, 129, 130, 131, 254, 255, 256, 257, 1000}) {
    INFO("n = " << n);
    const std::vector<float> values = tilewise::random_vector(std::size_t(n), 3);
    GuardedMatrix x(values), y(std::vector<float>(std::size_t(n), NAN));
    REQUIRE(launch_moving_sum(x.data(), y.data(), n) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<float> got = y.values();
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
      double sum = 0, magnitude = 0;
      for (int j = std::max(0, i - 2); j <= std::min(n - 1, i + 2); ++j) {
        sum += double{values[std::size_t(j)]};
        magnitude += std::abs(double{values[std::size_t(j)]});
      }
      wrong += !tilewise::element_ok(got[std::size_t(i)], sum, tilewise::error_bound(5, magnitude));
    }
    CHECK(wrong == 0);
    CHECK(y.margins_intact());
    CHECK(x.intact());
  }
}
