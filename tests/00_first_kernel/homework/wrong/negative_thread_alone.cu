// expect: negative visible only the first 256 pixels
// points: negative 5..60
// Every block does the pixels of the first.
#include "homework.cuh"

__global__ void negative(const float* in, float* out, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  out[i] = 1 - in[i];
}

cudaError_t launch_negative(const float* in, float* out, int n, cudaStream_t stream) {
  negative<<<(n + 255) / 256, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
