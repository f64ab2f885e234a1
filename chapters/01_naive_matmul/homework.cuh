// The homework of chapter 01: what your functions are called, what they get and what they must do.
// The bodies are in homework.cu. The page (README.md, "Homework") says what the three tasks are
// about and has hints.
//
// All work goes to `stream`, a queue of work for the GPU:
// kernel<<<blocks, threads, 0, stream>>>(...). Any will do. An array may begin at any multiple of 4
// bytes, and need not begin at one of 16.
#pragma once

#include <cuda_runtime.h>

/// Warm-up. Y[i][j] = s[i] * X[i][j] for 0 <= i < rows, 0 <= j < cols.
/// X is a part of a larger matrix: its element (i, j) is at X[i * ldx + j]. ldx, the *leading
/// dimension*, is the number of words from one row to the next; ldx >= cols. Don't touch what lies
/// between the rows. Y: rows x cols, row-major: its element (i, j) is at Y[i * cols + j]. s: rows
/// words. All in device memory; rows and cols are 1 to 65,535, and no array has 2^31 elements. X
/// and s must not change. Y holds garbage before. A factor may be 0.
/// Returns the error of the launch.
cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream = nullptr);

/// Core. C = A B, with all three matrices stored column-major, as cuBLAS has them: first all of
/// column 0, then all of column 1. Element (i, j) of a matrix with r rows is at [i + j * r].
/// A: M x K, B: K x N, C: M x N, in device memory; M, N and K are 1 to 65,535, none need be a
/// multiple of anything, and no matrix has 2^31 elements. All elements of A and B are finite, and
/// they must not change. C holds garbage before. Returns the error of the launch.
cudaError_t launch_matmul_by_columns(const float* A, const float* B, float* C, int M, int N, int K,
                                     cudaStream_t stream = nullptr);

/// Stretch. C = A B, row-major as in the lesson: element (i, j) of a matrix with c columns is at
/// [i * c + j]. Every thread computes four elements of C (fewer at the edges), so that a word in a
/// register is used more than once. A: M x K, B: K x N, C: M x N; all else as for
/// launch_matmul_by_columns().
cudaError_t launch_matmul_coarsened(const float* A, const float* B, float* C, int M, int N, int K,
                                    cudaStream_t stream = nullptr);
