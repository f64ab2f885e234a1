// Homework of chapter 02. `make homework-02` grades this file; `make homework-02 WATCH=1` does so whenever you save it.
// What the functions must do is in homework.cuh; tasks and hints are at the end of the chapter's page.
// You need to add lines, and to change none.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// Four lines of this kernel are missing. It compiles.

constexpr int SPAN = 128;  // outputs of a block, one for each of its threads
constexpr int HALO = 2;    // further words that it needs on either side

__global__ void moving_sum(const float* x, float* y, int n) {
  __shared__ float s[SPAN + 2 * HALO];  // s[HALO + t] = x[first + t]
  const int t = threadIdx.x;
  const int first = blockIdx.x * SPAN;  // this block's first output
  s[HALO + t] = first + t < n ? x[first + t] : 0.0f;
  // TODO (about 3 lines): the halo, and what must stand between writing s and reading it

  float sum = 0.0f;
  for (int d = 0; d <= 2 * HALO; ++d) sum += s[t + d];
  // TODO (1 line): not every thread has an output
    y[first + t] = sum;
}

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  moving_sum<<<(n + SPAN - 1) / SPAN, SPAN, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// C = A^T B. Tile sizes and the shape of the block are yours to choose.

// TODO (about 25 lines): a kernel

cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  // TODO (about 4 lines): launch it
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 3. stretch
// C = A B^T, with at least two elements of C for each thread.

// TODO (about 30 lines): a kernel

cudaError_t launch_matmul_a_bt(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  // TODO (about 4 lines): launch it
  return cudaGetLastError();
}
