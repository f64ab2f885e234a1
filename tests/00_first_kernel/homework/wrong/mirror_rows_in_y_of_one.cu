// A block for each row, in y, where 65,535 are the most, and four blocks in each row's place: the picture may be that high, and the
// grid may not.
// expect: mirror findings large-sizes
// points: mirror 5..85
#include "homework.cuh"

__global__ void mirror(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y / 4;
  if (blockIdx.y % 4 != 0 || x >= width) return;
  out[size_t(y) * width + x] = in[size_t(y) * width + width - 1 - x];
}

cudaError_t launch_mirror(const float* in, float* out, int width, int height, cudaStream_t stream) {
  mirror<<<dim3((width + 31) / 32, 4 * height), 32, 0, stream>>>(in, out, width, height);
  return cudaGetLastError();
}
