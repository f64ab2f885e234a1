// The homework of chapter 06: what your functions are called, what they get and what they must do.
// You write the bodies in homework.cu. The page (README.md, "Homework") says what the three tasks
// are about, and has hints.
//
// All arrays are device memory. Matrices are in CSR, as in the lesson: the nonzeros of row r are
// number row_ptr[r] up to row_ptr[r + 1], the end not included; nonzero e has the value values[e]
// and stands in column col_index[e]. row_ptr has one element more than there are rows. The columns
// of a row are all different, and in no particular order. Where there are no nonzeros at all,
// col_index and values are null. There are at most 2^24 rows and fewer than 2^30 nonzeros. All
// numbers are finite. All work goes to `stream`, which may be any stream. An array may begin at any
// multiple of 4 bytes, and need not begin at one of 16.
#pragma once

#include <cuda_runtime.h>

/// Warm-up. One step of Jacobi's method for A x = b: every row is solved for its own unknown, with
/// the old values of the others. x_new[i] = (b[i] - the sum over all j != i of a_ij x[j]) / a_ii.
/// A: rows x rows, rows >= 1; every a_ii is stored and not 0. b, x, x_new: `rows` elements each,
/// x_new is another array than x and holds garbage before. Nothing else may change. Returns the
/// error of the launch.
cudaError_t launch_jacobi_step(int rows, const int* row_ptr, const int* col_index,
                               const float* values, const float* b, const float* x, float* x_new,
                               cudaStream_t stream = nullptr);

/// Core. y = A x with a symmetric A of which only the lower triangle is stored: every nonzero has
/// col_index[e] <= its row. One off the diagonal stands for two elements, a_ij and a_ji; one on the
/// diagonal for itself. A: rows x rows, `nnz` stored nonzeros; rows may be empty, and a diagonal
/// element that is not stored is 0. x, y: `rows` elements, rows >= 1. y holds garbage before;
/// nothing else may change. Sums may be added up in any order. Returns the error of the first call
/// that failed.
cudaError_t launch_symmetric_spmv(int rows, int nnz, const int* row_ptr, const int* col_index,
                                  const float* values, const float* x, float* y,
                                  cudaStream_t stream = nullptr);

/// Stretch. C = A B with a sparse A and a dense B of n columns: C[i][j] is the sum over k of a_ik
/// B[k][j]. A: rows x cols, `nnz` nonzeros; rows may be empty. B: cols x n, C: rows x n, row-major
/// without gaps; rows, cols and n are 1 to 65,535, and no matrix has 2^31 elements. C holds garbage
/// before; nothing else may change. Returns the error of the launch.
cudaError_t launch_spmm(int rows, int cols, int n, int nnz, const int* row_ptr,
                        const int* col_index, const float* values, const float* B, float* C,
                        cudaStream_t stream = nullptr);
