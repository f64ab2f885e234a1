// The error of the launch is not returned.
// expect: axpy findings error-ignored
// points: axpy 80..85
#include "homework.cuh"

constexpr int BLOCKS = 4;  // however long the vectors are
constexpr int THREADS = 128;

__global__ void axpy(float a, const float* x, const float* y, float* z, int n) {
  const int t = blockIdx.x * THREADS + threadIdx.x;  // 0 .. 511: this thread among those of all blocks
  const int share = n / (BLOCKS * THREADS);
  int first = t * share;
  int end = first + share;
  int step = 1;
  // All threads together do 512 neighbours, then the next 512: a grid-stride loop.
  first = t;
  step = BLOCKS * THREADS;
  end = n;

  for (int i = first; i < end; i += step) z[i] = a * x[i] + y[i];
}

cudaError_t launch_axpy(float a, const float* x, const float* y, float* z, int n, cudaStream_t stream) {
  axpy<<<BLOCKS, THREADS, 0, stream>>>(a, x, y, z, n);
  return cudaSuccess;
}
