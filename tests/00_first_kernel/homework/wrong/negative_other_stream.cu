// expect: negative findings other-stream
// points: negative 5..80
// Leaves the stream out.
#include "homework.cuh"

__global__ void negative(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = 1 - in[i];
}

cudaError_t launch_negative(const float* in, float* out, int n, cudaStream_t stream) {
  negative<<<(n + 255) / 256, 256>>>(in, out, n);
  return cudaGetLastError();
}
