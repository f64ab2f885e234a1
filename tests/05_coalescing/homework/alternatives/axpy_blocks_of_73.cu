// Seven blocks of 73 threads, each with a part of its own, wherever it begins.
#include "homework.cuh"

__global__ void k(float a, const float* x, const float* y, float* z, int n) {
  long long b = (long long)n * blockIdx.x / gridDim.x, e = (long long)n * (blockIdx.x + 1) / gridDim.x;
  for (long long i = b + threadIdx.x; i < e; i += blockDim.x) z[i] = a * x[i] + y[i];
}
cudaError_t launch_axpy(float a, const float* x, const float* y, float* z, int n, cudaStream_t stream) {
  k<<<7, 73, 0, stream>>>(a, x, y, z, n);
  return cudaGetLastError();
}
