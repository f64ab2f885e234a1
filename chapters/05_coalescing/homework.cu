// Homework of chapter 05. `make homework-05` grades this file; `make homework-05 WATCH=1` does so whenever you save it.
// What the functions must do is in homework.cuh; tasks and hints are at the end of the chapter's page.
// You only need to add lines, not to change any.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// Each thread has a run of words to itself, as on the cores of a CPU. That's slow here, and it loses words.

constexpr int BLOCKS = 4;  // however long the vectors are
constexpr int THREADS = 128;

__global__ void axpy(float a, const float* x, const float* y, float* z, int n) {
  const int t = blockIdx.x * THREADS + threadIdx.x;  // 0 .. 511: this thread among those of all blocks
  const int share = n / (BLOCKS * THREADS);
  int first = t * share;
  int end = first + share;
  int step = 1;
  // TODO (3 lines): give neighbouring threads neighbouring words, and lose none

  for (int i = first; i < end; i += step) z[i] = a * x[i] + y[i];
}

cudaError_t launch_axpy(float a, const float* x, const float* y, float* z, int n, cudaStream_t stream) {
  axpy<<<BLOCKS, THREADS, 0, stream>>>(a, x, y, z, n);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// The mean of 2 x 2 words, in images of any width. You choose the block's shape.

// TODO (about 20 lines): a kernel

cudaError_t launch_halve(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  // TODO (about 4 lines): launch it
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 3. stretch
// A copy in pieces of 16 bytes, between arrays that aren't aligned alike.

// TODO (about 30 lines): a kernel

cudaError_t launch_copy_part(const float* from, float* to, int n, cudaStream_t stream) {
  // TODO (about 5 lines): launch it
  return cudaGetLastError();
}
