// expect: negative visible 1024 are the most
// points: negative 5..60
// Blocks of 2,048 threads.
#include "homework.cuh"

__global__ void negative(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = 1 - in[i];
}

cudaError_t launch_negative(const float* in, float* out, int n, cudaStream_t stream) {
  negative<<<(n + 2047) / 2048, 2048, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
