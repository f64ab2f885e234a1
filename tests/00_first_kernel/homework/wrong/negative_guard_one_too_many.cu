// expect: negative findings out-of-bounds
// points: negative 5..80
// The guard lets one thread too many through.
#include "homework.cuh"

__global__ void negative(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > n) return;
  out[i] = 1 - in[i];
}

cudaError_t launch_negative(const float* in, float* out, int n, cudaStream_t stream) {
  negative<<<(n + 255) / 256, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
