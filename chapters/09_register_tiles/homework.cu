// Homework of chapter 09. `make homework-09` grades this file; `make homework-09 WATCH=1` does so whenever you save it.
// What the functions must do is in homework.cuh; tasks and hints are at the end of the chapter's page.
// You only need to add lines, not to change any.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// The nearest level of each sample. The levels are in shared memory already; each thread has eight samples, so that it
// can compare all of them with a level that it has loaded once.

constexpr int THREADS = 128;
constexpr int EACH = 8;  // samples of a thread

__global__ void nearest_level(const float* x, const float* levels, int* index, int n, int count) {
  __shared__ float level[MOST_LEVELS];
  for (int l = threadIdx.x; l < count; l += THREADS) level[l] = levels[l];
  __syncthreads();
  // TODO (about 20 lines): eight samples, their least distances so far, and the levels that have these
}

cudaError_t launch_nearest_level(const float* x, const float* levels, int* index, int n, int count,
                                 cudaStream_t stream) {
  const int blocks = (n + THREADS * EACH - 1) / (THREADS * EACH);
  nearest_level<<<blocks, THREADS, 0, stream>>>(x, levels, index, n, count);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// The cheapest trips with one change, several of them for each thread. You choose tiles and rectangles.

// TODO (about 35 lines): a kernel

cudaError_t launch_cheapest(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  // TODO (about 3 lines): launch it
  return cudaGetLastError();
}
