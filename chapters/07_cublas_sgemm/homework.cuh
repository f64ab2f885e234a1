// The homework of chapter 07: what your functions are called, what they get and what they must do.
// You write the bodies in homework.cu. The page (README.md, "Homework") says what the three tasks
// are about, and has hints.
//
// All matrices are row-major, without gaps, in device memory; all sizes are 1 to 65,535, no matrix
// has 2^31 elements, and all numbers are finite. Results are as exact as sums in FP32 are, and not
// those of TF32. You may call cuBLAS, with the handle that you get: it is on another stream, reads
// scalars from the host and has the default math mode. All work must go to `stream`; afterwards the
// handle is on `stream`, and otherwise as it was. The functions do not wait for the work. They
// return the status of the first call of cuBLAS that failed, and CUBLAS_STATUS_EXECUTION_FAILED for
// a launch that failed.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

/// Warm-up. A linear layer: Y = X W^T, and the bias is added to every row: Y[i][j] = bias[j] + the
/// sum over k of X[i][k] * W[j][k].
/// X: rows x in, W: out x in (a row for each output, as PyTorch stores it), bias: out elements, Y:
/// rows x out. Y holds garbage before; nothing else may change.
cublasStatus_t launch_linear(cublasHandle_t handle, const float* X, const float* W,
                             const float* bias, float* Y, int rows, int in, int out,
                             cudaStream_t stream);

/// Core. The scores of an attention layer whose heads share their keys, with one call of the
/// library: S[h][q][k] = the sum over c of Q[q][h * d + c] * K[k][c], divided by the square root
/// of d. Q: queries x (heads * d): a row for each query, in which each head's d words lie side by
/// side. K: keys x d, the same for all heads. S: heads matrices of queries x keys, one after the
/// other. S holds garbage before; nothing else may change.
cublasStatus_t launch_head_scores(cublasHandle_t handle, const float* Q, const float* K, float* S,
                                  int heads, int queries, int keys, int d, cudaStream_t stream);

/// Stretch. How far is each point of A from each point of B? D[i][j] = the square root of the sum
/// over k of (A[i][k] - B[j][k])^2, which is |a_i|^2 + |b_j|^2 - 2 a_i . b_j under the root: the
/// last is a matrix product. A: m x d, B: n x d, D: m x n. The same point may be in both; no
/// distance is NaN. A distance may be off by what rounding errors in |a_i|^2, |b_j|^2 and a_i . b_j
/// do to it, which is much where points are close to one another, and no more than that. D and
/// workspace, m + n words for whatever you like, hold garbage before; nothing else may change.
cublasStatus_t launch_distances(cublasHandle_t handle, const float* A, const float* B, float* D,
                                float* workspace, int m, int n, int d, cudaStream_t stream);
