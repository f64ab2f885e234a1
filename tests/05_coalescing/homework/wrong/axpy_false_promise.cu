// It promises that n is a multiple of four: nvcc may leave the last words out.
// expect: axpy findings false-promise
// points: axpy 20..23
#include "homework.cuh"

__global__ void axpy(float a, const float* x, const float* y, float* z, int n) {
  __builtin_assume(n % 4 == 0);
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) z[i] = a * x[i] + y[i];
}

cudaError_t launch_axpy(float a, const float* x, const float* y, float* z, int n, cudaStream_t stream) {
  axpy<<<4, 128, 0, stream>>>(a, x, y, z, n);
  return cudaGetLastError();
}
