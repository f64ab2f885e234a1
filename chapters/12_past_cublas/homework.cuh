// The homework of chapter 12: what your functions are called, what they get and what they must do.
// The bodies are in homework.cu. The page (README.md, "Homework") says what the two tasks are about
// and has hints.
//
// All work goes to `stream`, which may be any stream. Where `stream` is the default one, callers
// may leave it out. All matrices are row-major in device memory: element (i, j) of a matrix with
// `cols` columns is at [i * cols + j]. An array may begin at any multiple of 4 bytes, and need not
// begin at one of 16.
#pragma once

#include <cuda_runtime.h>

/// Warm-up. S = A A^T: S[i][j] is the dot product of rows i and j of A. S is symmetric, so launch
/// blocks for the tiles on its diagonal and below it, and for no others.
/// A: N x K, S: N x N. N and K are 1 to 65,535, and neither matrix has 2^31 elements. All elements
/// of A are finite, and they must not change. S holds garbage before. Returns the error of the
/// launch.
cudaError_t launch_similarities(const float* A, float* S, int N, int K,
                                cudaStream_t stream = nullptr);

/// Core. Y = max(0, X W + bias): Y[i][j] is the sum over k of X[i][k] W[k][j], plus bias[j], and 0
/// where that is negative. In one launch, with `slices` blocks for each tile of Y that share its k
/// evenly. The block that is through last adds the slices' sums up. However the blocks are timed,
/// all bits of Y are the same. X: M x K, W: K x N, bias: N words, Y: M x N. M and N are 1 to
/// 65,535, K is 0 to 2^30, slices is 1 to 1,024 and may be larger than K. No matrix has 2^31
/// elements. All elements are finite. X, W and bias must not change. Y holds garbage before.
/// parts: slices * M * N words to work in; they hold garbage before.
/// arrived: a counter for each tile of Y of 32 x 32 elements, (M + 31) / 32 * ((N + 31) / 32) of
/// them. All are 0 before, and must be 0 again when the work is done, for the next call.
/// Returns the error of the launch.
cudaError_t launch_sliced_layer(const float* X, const float* W, const float* bias, float* Y, int M,
                                int N, int K, int slices, float* parts, int* arrived,
                                cudaStream_t stream = nullptr);
