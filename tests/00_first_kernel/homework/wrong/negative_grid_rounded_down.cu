// expect: negative visible the number of blocks is rounded down
// points: negative 5..60
// The last, incomplete block is missing.
#include "homework.cuh"

__global__ void negative(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = 1 - in[i];
}

cudaError_t launch_negative(const float* in, float* out, int n, cudaStream_t stream) {
  negative<<<n / 256, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
