// No loop: a thread per word, in blocks of 100. The last block has idle threads, and so has the last warp of each.
#include "homework.cuh"

__global__ void axpy(float a, const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = fmaf(a, x[i], y[i]);
}

cudaError_t launch_axpy(float a, const float* x, const float* y, float* z, int n, cudaStream_t stream) {
  axpy<<<(n + 99) / 100, 100, 0, stream>>>(a, x, y, z, n);
  return cudaGetLastError();
}
