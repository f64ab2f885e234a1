// Right, without shared memory: the loads run down columns.
// expect: rotate efficiency sectors of loads
// points: rotate 85..90
#include "homework.cuh"

__global__ void rotate(const float* A, float* B, int rows, int cols) {
  const int col = blockIdx.x * 32 + threadIdx.x;  // of B
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row < cols && col < rows) B[row * rows + col] = A[(rows - 1 - col) * cols + row];
}

cudaError_t launch_rotate(const float* A, float* B, int rows, int cols, cudaStream_t stream) {
  rotate<<<dim3((rows + 31) / 32, (cols + 7) / 8), dim3(32, 8), 0, stream>>>(A, B, rows, cols);
  return cudaGetLastError();
}
