// The runs stay, the last one gets what is left over: right and uncoalesced.
// expect: axpy efficiency use 4 bytes of its 32
// points: axpy 70..78
#include "homework.cuh"

constexpr int BLOCKS = 4;  // however long the vectors are
constexpr int THREADS = 128;

__global__ void axpy(float a, const float* x, const float* y, float* z, int n) {
  const int t = blockIdx.x * THREADS + threadIdx.x;  // 0 .. 511: this thread among those of all blocks
  const int share = n / (BLOCKS * THREADS);
  int first = t * share;
  int end = first + share;
  int step = 1;
  if (t == BLOCKS * THREADS - 1) end = n;

  for (int i = first; i < end; i += step) z[i] = a * x[i] + y[i];
}

cudaError_t launch_axpy(float a, const float* x, const float* y, float* z, int n, cudaStream_t stream) {
  axpy<<<BLOCKS, THREADS, 0, stream>>>(a, x, y, z, n);
  return cudaGetLastError();
}
