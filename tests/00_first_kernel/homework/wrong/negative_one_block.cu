// expect: negative visible only the first 256 pixels
// points: negative 5..60
// One block, whatever n is.
#include "homework.cuh"

__global__ void negative(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = 1 - in[i];
}

cudaError_t launch_negative(const float* in, float* out, int n, cudaStream_t stream) {
  negative<<<1, 256, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
