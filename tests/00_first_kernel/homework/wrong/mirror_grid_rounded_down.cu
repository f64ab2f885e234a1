// expect: mirror visible the grid is rounded down
// points: mirror 5..43
// The incomplete blocks at the edges are missing.
#include "homework.cuh"

__global__ void mirror(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  out[y * width + x] = in[y * width + width - 1 - x];
}

cudaError_t launch_mirror(const float* in, float* out, int width, int height, cudaStream_t stream) {
  mirror<<<dim3(width / 32, height / 8), dim3(32, 8), 0, stream>>>(in, out, width, height);
  return cudaGetLastError();
}
