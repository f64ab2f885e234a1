// Wrong naive kernels. Each holds one mistake that people make, and each must be rejected by check_matmul(), the
// same function that the right kernels pass. All are launched as naive_matmul(): column on threadIdx.x.
#pragma once

#include <cuda_runtime.h>

#include "check_matmul.hpp"

namespace naive_mutants {

/// What every one of these kernels gets. Right unless the kernel says otherwise.
struct Problem {
  const float* A;  // M x K
  const float* B;  // K x N
  float* C;        // M x N
  int M, N, K;

  __device__ static int row() { return blockIdx.y * blockDim.y + threadIdx.y; }
  __device__ static int col() { return blockIdx.x * blockDim.x + threadIdx.x; }
  __device__ bool inside() const { return row() < M && col() < N; }
  __device__ float dot() const {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row() * K + k] * B[k * N + col()];
    return sum;
  }
  __device__ void store(float value) const { C[row() * N + col()] = value; }
};

// No bounds test: threads past the right edge write into the next row, those past the last row beyond C.
__global__ void missing_guard(Problem p) { p.store(p.dot()); }

// The bounds test of a well-known tutorial: `and` where `or` is meant, so only the outer corner is left out.
__global__ void guard_and_for_or(Problem p) {
  if (p.row() >= p.M && p.col() >= p.N) return;
  p.store(p.dot());
}

// M and N have changed places in the bounds test: right for square matrices only.
__global__ void guard_swapped(Problem p) {
  if (p.row() >= p.N || p.col() >= p.M) return;
  p.store(p.dot());
}

// The last row and column are left out.
__global__ void guard_too_tight(Problem p) {
  if (p.row() >= p.M - 1 || p.col() >= p.N - 1) return;
  p.store(p.dot());
}

// The row length of A taken to be M: right for square matrices only.
__global__ void lda_is_m(Problem p) {
  if (!p.inside()) return;
  float sum = 0.0f;
  for (int k = 0; k < p.K; ++k) sum += p.A[p.row() * p.M + k] * p.B[k * p.N + p.col()];
  p.store(sum);
}

// The row length of B taken to be K.
__global__ void ldb_is_k(Problem p) {
  if (!p.inside()) return;
  float sum = 0.0f;
  for (int k = 0; k < p.K; ++k) sum += p.A[p.row() * p.K + k] * p.B[k * p.K + p.col()];
  p.store(sum);
}

// The row length of C taken to be M.
__global__ void ldc_is_m(Problem p) {
  if (p.inside()) p.C[p.row() * p.M + p.col()] = p.dot();
}

// B read as if it were transposed.
__global__ void b_transposed(Problem p) {
  if (!p.inside()) return;
  float sum = 0.0f;
  for (int k = 0; k < p.K; ++k) sum += p.A[p.row() * p.K + k] * p.B[p.col() * p.K + k];
  p.store(sum);
}

// C written as if it were transposed: every value right, every place wrong.
__global__ void c_transposed(Problem p) {
  if (p.inside()) p.C[p.col() * p.M + p.row()] = p.dot();
}

// The last term of every sum is forgotten.
__global__ void drops_last_k(Problem p) {
  if (!p.inside()) return;
  const float last = p.A[p.row() * p.K + p.K - 1] * p.B[(p.K - 1) * p.N + p.col()];
  p.store(p.dot() - last);
}

// One term too many: it lies past the end of the row of A and past the last row of B.
__global__ void one_k_too_many(Problem p) {
  if (!p.inside()) return;
  p.store(p.dot() + p.A[p.row() * p.K + p.K] * p.B[p.K * p.N + p.col()]);
}

// Adds to C, whatever C held.
__global__ void adds_to_c(Problem p) {
  if (p.inside()) p.C[p.row() * p.N + p.col()] += p.dot();
}

// Only the first element is written.
__global__ void only_first_element(Problem p) {
  if (p.row() == 0 && p.col() == 0) p.store(p.dot());
}

// One element of all is not a number; a test that asks `error > tolerance` says no, and passes.
__global__ void one_nan(Problem p) {
  if (!p.inside()) return;
  const bool last = p.row() == p.M - 1 && p.col() == p.N - 1;
  p.store(last ? p.dot() * __int_as_float(0x7fc00000) : p.dot());
}

// One element of all is off by a thousandth: far inside a tolerance of 0.01 * K, far outside the rounding bound.
__global__ void one_slightly_off(Problem p) {
  if (!p.inside()) return;
  const bool middle = p.row() == p.M / 2 && p.col() == p.N / 2;
  p.store(middle ? p.dot() + 1e-3f : p.dot());
}

// The running sum is kept in 16 bits (bfloat16, by cutting off): three digits are left.
__global__ void short_sum(Problem p) {
  if (!p.inside()) return;
  float sum = 0.0f;
  for (int k = 0; k < p.K; ++k) {
    sum += p.A[p.row() * p.K + k] * p.B[k * p.N + p.col()];
    sum = __uint_as_float(__float_as_uint(sum) & 0xffff0000u);
  }
  p.store(sum);
}

// The right answer in C, and a changed input behind everybody's back.
__global__ void writes_into_a(Problem p) {
  if (!p.inside()) return;
  p.store(p.dot());
  if (p.row() == p.M - 1 && p.col() == p.N - 1) const_cast<float*>(p.A)[p.M * p.K - 1] = 0.0f;
}

// Only columns are tested: the threads below the last row write beyond C.
__global__ void guards_columns_only(Problem p) {
  if (p.col() < p.N) p.store(p.dot());
}

// The sum in steps of four, as an unrolled loop, without the one to three products that remain.
__global__ void unrolled_without_remainder(Problem p) {
  if (!p.inside()) return;
  float sum = 0.0f;
  for (int k = 0; k + 4 <= p.K; k += 4)
    for (int i = 0; i < 4; ++i) sum += p.A[p.row() * p.K + k + i] * p.B[(k + i) * p.N + p.col()];
  p.store(sum);
}

// The blocks of the grid have changed places, the threads in them have not: the mapping of the other kernel, by half.
__global__ void blocks_swapped(Problem p) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, col = blockIdx.y * blockDim.x + threadIdx.x;
  if (row >= p.M || col >= p.N) return;
  float sum = 0.0f;
  for (int k = 0; k < p.K; ++k) sum += p.A[row * p.K + k] * p.B[k * p.N + col];
  p.C[row * p.N + col] = sum;
}

// The grid was computed with N / 16 and M / 16: the blocks that would hold the remainders are never launched.
__global__ void grid_rounded_down(Problem p) {
  if (blockIdx.x >= p.N / blockDim.x || blockIdx.y >= p.M / blockDim.y) return;
  p.store(p.dot());
}

// gridDim where blockDim is meant: blocks overlap, and leave gaps.
__global__ void grid_for_block(Problem p) {
  const int row = blockIdx.y * gridDim.y + threadIdx.y, col = blockIdx.x * gridDim.x + threadIdx.x;
  if (row >= p.M || col >= p.N) return;
  float sum = 0.0f;
  for (int k = 0; k < p.K; ++k) sum += p.A[row * p.K + k] * p.B[k * p.N + col];
  p.C[row * p.N + col] = sum;
}

// The running sum is kept in C, which is read and written K times: right only if C held zeros.
__global__ void sums_in_c(Problem p) {
  if (!p.inside()) return;
  for (int k = 0; k < p.K; ++k) p.C[p.row() * p.N + p.col()] += p.A[p.row() * p.K + k] * p.B[k * p.N + p.col()];
}

struct Mutant {
  const char* name;
  void (*kernel)(Problem);
  Fault fault;     ///< what check_matmul() must find, among other things
  int wrong = -1;  ///< how many elements must be wrong for kShape, where the mistake says so; -1: it does not
};

/// Where `wrong` is counted: M, N, K of which none is a multiple of 16.
constexpr tilewise::MatmulShape kShape{33, 41, 37};

inline const Mutant mutants[] = {
    {"missing_guard", missing_guard, Fault::outside_written},
    {"guard_and_for_or", guard_and_for_or, Fault::outside_written},
    {"guard_swapped", guard_swapped, Fault::wrong_value},
    {"guard_too_tight", guard_too_tight, Fault::wrong_value, 33 + 41 - 1},
    {"lda_is_m", lda_is_m, Fault::wrong_value},
    {"ldb_is_k", ldb_is_k, Fault::wrong_value},
    {"ldc_is_m", ldc_is_m, Fault::wrong_value},
    {"b_transposed", b_transposed, Fault::wrong_value},
    {"c_transposed", c_transposed, Fault::wrong_value},
    {"drops_last_k", drops_last_k, Fault::wrong_value},
    {"one_k_too_many", one_k_too_many, Fault::wrong_value},
    {"adds_to_c", adds_to_c, Fault::wrong_value, 33 * 41},
    {"only_first_element", only_first_element, Fault::wrong_value, 33 * 41 - 1},
    {"one_nan", one_nan, Fault::wrong_value, 1},
    {"one_slightly_off", one_slightly_off, Fault::wrong_value, 1},
    {"short_sum", short_sum, Fault::wrong_value},
    {"writes_into_a", writes_into_a, Fault::input_changed, 0},
    {"guards_columns_only", guards_columns_only, Fault::outside_written},
    {"unrolled_without_remainder", unrolled_without_remainder, Fault::wrong_value},
    {"blocks_swapped", blocks_swapped, Fault::wrong_value},
    {"grid_rounded_down", grid_rounded_down, Fault::wrong_value, 33 * 41 - 32 * 32},
    {"grid_for_block", grid_for_block, Fault::wrong_value},
    {"sums_in_c", sums_in_c, Fault::wrong_value, 33 * 41},
};

}  // namespace naive_mutants
