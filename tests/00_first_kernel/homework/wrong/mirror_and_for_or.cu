// expect: mirror findings out-of-bounds
// points: mirror 5..85
// Leaves only where both are outside.
#include "homework.cuh"

__global__ void mirror(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width && y >= height) return;
  out[y * width + x] = in[y * width + width - 1 - x];
}

cudaError_t launch_mirror(const float* in, float* out, int width, int height, cudaStream_t stream) {
  const dim3 grid((width + 31) / 32, (height + 7) / 8);
  mirror<<<grid, dim3(32, 8), 0, stream>>>(in, out, width, height);
  return cudaGetLastError();
}
