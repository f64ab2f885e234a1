// The homework's solution, on this machine (a GPU, too): right on many shapes, nothing written beside its output, no
// input changed. How submissions are graded is tested by `grade --check-bank`.
#include "homework/solution.cu"

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "check_matmul.hpp"

namespace {

/// Column-major from row-major.
std::vector<float> by_columns(const std::vector<float>& matrix, std::size_t rows, std::size_t cols) {
  std::vector<float> result(matrix.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) result[j * rows + i] = matrix[i * cols + j];
  return result;
}

const std::vector<std::vector<int>> kShapes{{1, 1, 1},    {32, 32, 32}, {33, 31, 32}, {5, 7, 3},    {1, 100, 7},
                                            {100, 1, 7},  {7, 100, 1},  {64, 64, 9},  {17, 49, 65}, {97, 3, 129},
                                            {31, 33, 63}, {2, 65, 96},  {130, 70, 50}};

}  // namespace

TEST_CASE("homework, solution: products by columns, and with four elements per thread", "[homework]") {
  for (const auto& s : kShapes) {
    const int M = s[0], N = s[1], K = s[2];
    INFO("M = " << M << ", N = " << N << ", K = " << K);
    const tilewise::MatmulShape shape{std::size_t(M), std::size_t(N), std::size_t(K)};
    const std::vector<float> A = tilewise::random_vector(shape.m * shape.k, 1),
                             B = tilewise::random_vector(shape.k * shape.n, 2);
    const tilewise::MatmulReference reference(A, B, shape);
    const std::vector<float> poison(shape.m * shape.n, NAN);
    for (const bool columns : {true, false}) {
      GuardedMatrix a(columns ? by_columns(A, shape.m, shape.k) : A), b(columns ? by_columns(B, shape.k, shape.n) : B),
          c(poison);
      const cudaError_t error = columns ? launch_matmul_by_columns(a.data(), b.data(), c.data(), M, N, K)
                                        : launch_matmul_coarsened(a.data(), b.data(), c.data(), M, N, K);
      REQUIRE(error == cudaSuccess);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      // By columns, C's words are those of its transpose by rows.
      const std::vector<float> C = columns ? by_columns(c.values(), shape.n, shape.m) : c.values();
      CHECK(reference.check(C).text().substr(0, 5) == "right");
      CHECK(c.margins_intact());
      CHECK(a.intact());
      CHECK(b.intact());
    }
  }
}

TEST_CASE("homework, solution: the rows of a part of a matrix, scaled", "[homework]") {
  const std::vector<std::vector<int>> shapes{{1, 1, 0}, {64, 64, 32}, {9, 33, 0}, {50, 37, 5}, {1, 300, 1}, {70, 2, 9}};
  for (const auto& shape : shapes) {
    const int rows = shape[0], cols = shape[1], ldx = cols + shape[2];
    INFO(rows << " x " << cols << ", ldx = " << ldx);
    const std::vector<float> x = tilewise::random_vector(std::size_t(rows) * ldx, 3),
                             factors = tilewise::random_vector(std::size_t(rows), 4);
    GuardedMatrix X(x), s(factors), Y(std::vector<float>(std::size_t(rows) * cols, NAN));
    REQUIRE(launch_scale_rows(X.data(), ldx, s.data(), Y.data(), rows, cols) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<float> got = Y.values();
    int wrong = 0;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j)  // one product, one rounding: FP32 gives the same on any machine
        wrong += got[std::size_t(i) * cols + j] != factors[std::size_t(i)] * x[std::size_t(i) * ldx + j];
    CHECK(wrong == 0);
    CHECK(Y.margins_intact());
    CHECK(X.intact());
    CHECK(s.intact());
  }
}
