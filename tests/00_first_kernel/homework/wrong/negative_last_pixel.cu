// expect: negative visible the last pixel is missing
// points: negative 5..60
// The guard sends one thread too many away.
#include "homework.cuh"

__global__ void negative(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n - 1) return;
  out[i] = 1 - in[i];
}

cudaError_t launch_negative(const float* in, float* out, int n, cudaStream_t stream) {
  negative<<<(n + 255) / 256, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
