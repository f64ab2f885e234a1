// Stores down columns, by atomics: they are stores, too.
// expect: rotate efficiency sectors of stores
// points: rotate 85..90
#include "homework.cuh"

__global__ void rotate(const float* A, float* B, int rows, int cols) {
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i < rows && j < cols) atomicExch(&B[(size_t)j * rows + rows - 1 - i], A[(size_t)i * cols + j]);
}
cudaError_t launch_rotate(const float* A, float* B, int rows, int cols, cudaStream_t stream) {
  rotate<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(A, B, rows, cols);
  return cudaGetLastError();
}
