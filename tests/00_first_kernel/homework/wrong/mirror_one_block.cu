// expect: mirror visible only the first block of 32 x 8
// points: mirror 5..43
// One block, whatever the picture's size.
#include "homework.cuh"

__global__ void mirror(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  out[y * width + x] = in[y * width + width - 1 - x];
}

cudaError_t launch_mirror(const float* in, float* out, int width, int height, cudaStream_t stream) {
  mirror<<<1, dim3(32, 8), 0, stream>>>(in, out, width, height);
  return cudaGetLastError();
}
