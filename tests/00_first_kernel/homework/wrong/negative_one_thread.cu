// expect: negative efficiency 256 requests
// points: negative 5..96
// A loop in a single thread.
#include "homework.cuh"

__global__ void negative(const float* in, float* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = 1 - in[i];
}

cudaError_t launch_negative(const float* in, float* out, int n, cudaStream_t stream) {
  negative<<<1, 1, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
