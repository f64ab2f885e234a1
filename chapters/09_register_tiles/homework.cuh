// The homework of chapter 09: what your functions are called, what they get and what they must do.
// You write the bodies in homework.cu. The page (README.md, "Your turn") says what the two tasks
// are about, and has hints.
//
// All arrays are device memory. All work goes to `stream`, which may be any stream. Where `stream`
// is the default one, callers may leave it out.
// An array may begin at any multiple of 4 bytes, and need not begin at one of 16.
#pragma once

#include <cuda_runtime.h>

/// There are no more levels than this: all of them fit into a block's shared memory.
constexpr int MOST_LEVELS = 1024;

/// Warm-up. index[i] = the number of the level that is nearest to x[i]: the l, from 0 to count - 1,
/// with the least |x[i] - levels[l]|. Of levels that are equally near, the first counts. Where x[i]
/// is NaN, no level is near, and index[i] is -1.
/// x: n samples, each from -250 to 250 or NaN; levels: count values from -250 to 250, in no
/// particular order; index: n elements, which hold garbage before. n is 1 to 2^28, count is 1 to
/// MOST_LEVELS. x and levels must not change. Returns the error of the launch.
cudaError_t launch_nearest_level(const float* x, const float* levels, int* index, int n, int count,
                                 cudaStream_t stream = nullptr);

/// Core. The cheapest trips with one change: C[i][j] is the least of A[i][k] + B[k][j] over all k.
/// A[i][k] is what the way from town i to airport k costs, B[k][j] what the flight from there to
/// town j costs. Prices are positive, and infinity where there is no such way or flight. Where no
/// trip is possible, C[i][j] is infinity, too. A: M x K, B: K x N, C: M x N, row-major in device
/// memory: A's element (i, k) is at A[i * K + k]. M, N and K are 0 to 65,535, and no matrix has
/// 2^31 elements. With K = 0 no trip is possible at all. With M = 0 or N = 0 there is nothing to
/// do: launch nothing, and return cudaSuccess. A and B must not change, and C holds garbage before.
/// Returns the error of the launch.
cudaError_t launch_cheapest(const float* A, const float* B, float* C, int M, int N, int K,
                            cudaStream_t stream = nullptr);
