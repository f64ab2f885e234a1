// The homework of chapter 02: what your functions are called, what they get and what they must do.
// The bodies are in homework.cu. The page (README.md, "Homework") says what the three tasks are
// about and has hints.
//
// All work goes to `stream`, a queue of work for the GPU:
// kernel<<<blocks, threads, 0, stream>>>(...). Any will do. An array may begin at any multiple of 4
// bytes, and need not begin at one of 16.
#pragma once

#include <cuda_runtime.h>

/// Warm-up. y[i] = x[i-2] + x[i-1] + x[i] + x[i+1] + x[i+2], where x counts as 0 outside
/// 0 <= i < n. x and y are device memory, n elements each, 1 <= n < 2^31 - 1024; all elements of x
/// are finite, and x must not change. Every word of x should be fetched from global memory once per
/// block, and its five uses served from shared memory. Returns the error of the launch.
cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream = nullptr);

/// Core. C = A^T B, through shared memory: C[i][j] is the sum over k of A[k][i] * B[k][j].
/// A: K x M, B: K x N, C: M x N, row-major in device memory; M, N and K are 1 to 65,535, none need
/// be a multiple of anything, and no matrix has 2^31 elements. All elements of A and B are finite,
/// and they must not change. C holds garbage before.
/// Returns the error of the launch.
cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K,
                               cudaStream_t stream = nullptr);

/// Stretch. C = A B^T, through shared memory, every thread with two or more elements of C: C[i][j]
/// is the sum over k of A[i][k] * B[j][k], the product of all rows of A with all rows of B (in a
/// transformer: queries with keys). A: M x K, B: N x K, C: M x N; all else as for
/// launch_matmul_at_b().
cudaError_t launch_matmul_a_bt(const float* A, const float* B, float* C, int M, int N, int K,
                               cudaStream_t stream = nullptr);
