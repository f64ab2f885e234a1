// Squares overlap.
// expect: halve visible squares overlap
// points: halve 5..44
#include "homework.cuh"

__global__ void halve(const float* in, float* out, int rows, int cols) {
  const int j = blockIdx.x * 32 + threadIdx.x;
  const int i = blockIdx.y * 8 + threadIdx.y;
  if (i >= rows / 2 || j >= cols / 2) return;
  const float* p = in + i * cols + j;
  out[i * (cols / 2) + j] = 0.25f * (p[0] + p[1] + p[cols] + p[cols + 1]);
}

cudaError_t launch_halve(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  if (rows < 2 || cols < 2) return cudaSuccess;
  const dim3 blocks((cols / 2 + 31) / 32, (rows / 2 + 7) / 8);
  halve<<<blocks, dim3(32, 8), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
