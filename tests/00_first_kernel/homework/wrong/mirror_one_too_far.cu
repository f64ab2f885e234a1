// expect: mirror visible wrong
// points: mirror 5..43
// Reads the pixel after the one that it needs.
#include "homework.cuh"

__global__ void mirror(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  out[y * width + x] = in[y * width + width - x];
}

cudaError_t launch_mirror(const float* in, float* out, int width, int height, cudaStream_t stream) {
  const dim3 grid((width + 31) / 32, (height + 7) / 8);
  mirror<<<grid, dim3(32, 8), 0, stream>>>(in, out, width, height);
  return cudaGetLastError();
}
