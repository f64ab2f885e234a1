// The homework's solution, on this machine (a GPU, too): right on many matrices, nothing written beside its output, no
// input changed. How submissions are graded is tested by `grade --check-bank`.
#pragma GCC diagnostic ignored "-Wunused-parameter"  // nnz is for those who want it
#include "homework/solution.cu"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "guarded_memory.hpp"
#include "tilewise/csr.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/random.hpp"

namespace {

/// Entries of a dense matrix, row by row, those that are 0 left out; columns from high to low where `turned`.
tilewise::Csr<float> sparse(const std::vector<double>& dense, int rows, int cols, bool turned) {
  tilewise::Csr<float> A;
  A.rows = rows, A.cols = cols;
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < cols; ++k) {
      const int j = turned ? cols - 1 - k : k;
      const double v = dense[std::size_t(i) * std::size_t(cols) + std::size_t(j)];
      if (v == 0) continue;
      A.col_index.push_back(j);
      A.values.push_back(static_cast<float>(v));
    }
    A.row_ptr.push_back(static_cast<int>(A.col_index.size()));
  }
  return A;
}

/// A matrix with `share` of 8 elements, at random, and some rows that are empty or full.
std::vector<double> random_dense(int rows, int cols, unsigned share, std::uint64_t seed) {
  tilewise::Random random(seed);
  std::vector<double> dense;
  for (int i = 0; i < rows; ++i) {
    const auto kind = random.below(10);
    const unsigned here = kind == 0 ? 0 : kind == 1 ? 8 : share;
    for (int j = 0; j < cols; ++j) dense.push_back(random.below(8) < here ? double{random.uniform()} : 0.0);
  }
  return dense;
}

struct Sums {
  std::vector<double> value, magnitude;
  std::vector<std::size_t> terms;
  explicit Sums(std::size_t n) : value(n), magnitude(n), terms(n) {}
  void add(std::size_t i, double term) {
    value[i] += term;
    magnitude[i] += std::abs(term);
    terms[i] += term != 0;
  }
};

int wrong_elements(const std::vector<float>& got, const Sums& sums) {
  int wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    wrong += !tilewise::element_ok(got[i], sums.value[i], tilewise::error_bound(sums.terms[i], sums.magnitude[i]));
  return wrong;
}

/// The arrays of a matrix and one more input between margins; `call` gets pointers to all and to the output.
template <class Call>
std::vector<float> run(const tilewise::Csr<float>& A, const std::vector<float>& input, std::size_t outputs, Call call) {
  tilewise::DeviceBuffer<int> row_ptr(A.row_ptr), col_index(A.col_index);
  GuardedMatrix values(A.values), x(input), y(std::vector<float>(outputs, NAN));
  REQUIRE(call(row_ptr.data(), col_index.data(), values.data(), x.data(), y.data()) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(y.margins_intact());
  CHECK(row_ptr.to_host() == A.row_ptr);
  CHECK(col_index.to_host() == A.col_index);
  CHECK(values.intact());
  CHECK(x.intact());
  return y.values();
}

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

TEST_CASE("homework, solution: a step of Jacobi's method", "[homework]") {
  for (const int n : {1, 2, 3, 31, 127, 128, 129, 300}) {
    for (const bool turned : {false, true}) {
      INFO("n = " << n << (turned ? ", columns from high to low" : ""));
      std::vector<double> dense = random_dense(n, n, 2, at(n));
      for (int i = 0; i < n; ++i) dense[at(i) * at(n) + at(i)] = i % 2 ? 1.5 : -1.25;
      const auto b = tilewise::random_vector(at(n), 1), x = tilewise::random_vector(at(n), 2);
      const tilewise::Csr<float> A = sparse(dense, n, n, turned);
      GuardedMatrix right_side(b);
      const auto got = run(A, x, at(n), [&](int* row_ptr, int* col_index, float* values, float* old, float* out) {
        return launch_jacobi_step(n, row_ptr, col_index, values, right_side.data(), old, out);
      });
      CHECK(right_side.intact());
      int wrong = 0;
      for (int i = 0; i < n; ++i) {
        Sums sum(1);
        sum.add(0, double{b[at(i)]});
        for (int j = 0; j < n; ++j)
          if (j != i) sum.add(0, -dense[at(i) * at(n) + at(j)] * double{x[at(j)]});
        const double d = dense[at(i) * at(n) + at(i)];
        wrong += !tilewise::element_ok(got[at(i)], sum.value[0] / d,
                                       tilewise::error_bound(sum.terms[0] + 1, sum.magnitude[0]) / std::abs(d) +
                                           0x1p-23 * std::abs(sum.value[0] / d));
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("homework, solution: half of a symmetric matrix", "[homework]") {
  for (const int n : {1, 2, 3, 31, 32, 33, 65, 200}) {
    for (const bool turned : {false, true}) {
      INFO("n = " << n << (turned ? ", columns from high to low" : ""));
      std::vector<double> half = random_dense(n, n, 2, at(n) + 7);
      for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j) half[at(i) * at(n) + at(j)] = 0;
      const auto x = tilewise::random_vector(at(n), 3);
      Sums sums(at(n));
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
          const double a = half[at(i) * at(n) + at(j)];
          sums.add(at(i), a * double{x[at(j)]});
          if (i != j) sums.add(at(j), a * double{x[at(i)]});
        }
      }
      const tilewise::Csr<float> A = sparse(half, n, n, turned);
      const auto got = run(A, x, at(n), [&](int* row_ptr, int* col_index, float* values, float* in, float* out) {
        return launch_symmetric_spmv(n, static_cast<int>(A.nnz()), row_ptr, col_index, values, in, out);
      });
      CHECK(wrong_elements(got, sums) == 0);
    }
  }
}

TEST_CASE("homework, solution: sparse times dense", "[homework]") {
  const std::vector<std::vector<int>> shapes{{1, 1, 1},    {1, 100, 5},   {33, 1, 32},  {7, 70, 64},
                                             {40, 40, 33}, {20, 200, 31}, {65, 32, 100}};
  for (const auto& shape : shapes) {
    const int rows = shape[0], cols = shape[1], n = shape[2];
    INFO("rows = " << rows << ", cols = " << cols << ", n = " << n);
    const std::vector<double> dense = random_dense(rows, cols, 3, at(rows + cols));
    const auto B = tilewise::random_vector(at(cols) * at(n), 4);
    Sums sums(at(rows) * at(n));
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < cols; ++k)
        for (int j = 0; j < n; ++j)
          sums.add(at(i) * at(n) + at(j), dense[at(i) * at(cols) + at(k)] * double{B[at(k) * at(n) + at(j)]});
    const tilewise::Csr<float> A = sparse(dense, rows, cols, cols % 2 == 0);
    const auto got =
        run(A, B, at(rows) * at(n), [&](int* row_ptr, int* col_index, float* values, float* in, float* out) {
          return launch_spmm(rows, cols, n, static_cast<int>(A.nnz()), row_ptr, col_index, values, in, out);
        });
    CHECK(wrong_elements(got, sums) == 0);
  }
}
