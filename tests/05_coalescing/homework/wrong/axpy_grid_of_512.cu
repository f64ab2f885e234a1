// A word per thread, and 512 blocks, however long the vectors are.
// expect: axpy visible was there before
// points: axpy 42..48
#include "homework.cuh"

__global__ void k(float a, const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * 512 + threadIdx.x;
  if (i < n) z[i] = a * x[i] + y[i];
}
cudaError_t launch_axpy(float a, const float* x, const float* y, float* z, int n, cudaStream_t stream) {
  k<<<512, 512, 0, stream>>>(a, x, y, z, n);
  return cudaGetLastError();
}
