// expect: mirror efficiency 32
// points: mirror 5..89
// threadIdx.x counts rows: right, and hard work for memory.
#include "homework.cuh"

__global__ void mirror(const float* in, float* out, int width, int height) {
  const int y = blockIdx.x * blockDim.x + threadIdx.x;
  const int x = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  out[y * width + x] = in[y * width + width - 1 - x];
}

cudaError_t launch_mirror(const float* in, float* out, int width, int height, cudaStream_t stream) {
  mirror<<<dim3((height + 31) / 32, (width + 7) / 8), dim3(32, 8), 0, stream>>>(in, out, width, height);
  return cudaGetLastError();
}
