// The homework of chapter 10: what your functions are called, what they get and what they must do.
// The bodies are in homework.cu. The page (README.md, "Your turn") says what the two tasks are
// about and has hints.
//
// All work goes to `stream`, which may be any stream. Where `stream` is the default one, callers
// may leave it out. All matrices begin at multiples of 16 bytes. Whether their rows do depends on
// how long these are.
#pragma once

#include <cuda_runtime.h>

/// Warm-up. y[r] = A[r][0] x[0] + A[r][1] x[1] + ...: a matrix times a vector.
/// A: rows x cols, row-major: element (r, c) is at A[r * cols + c]; x: cols words, y: rows words,
/// in device memory. rows and cols are 1 to 65,535, and A has less than 2^31 elements. All elements
/// are finite, and A and x must not change. y holds garbage before. Returns the error of the
/// launch.
cudaError_t launch_row_dots(const float* A, const float* x, float* y, int rows, int cols,
                            cudaStream_t stream = nullptr);

/// Core. G = A^T A: G[i][j] is the sum over k of A[k][i] A[k][j], the dot product of two columns of
/// A. A: K x N, G: N x N, row-major in device memory: A's element (k, i) is at A[k * N + i]. N and
/// K are 1 to 65,535, and neither matrix has 2^31 elements. All elements of A are finite, and they
/// must not change. G holds garbage before. Returns the error of the launch.
cudaError_t launch_gram(const float* A, float* G, int N, int K, cudaStream_t stream = nullptr);
