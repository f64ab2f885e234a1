// The row comes from a division of floats, which have 24 bits: from 16 million elements on, some get their neighbour's row.
// expect: rotate findings large-sizes
// points: rotate 30..85
#include "homework.cuh"

__global__ void rotate(const float* A, float* B, int rows, int cols) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  const int row = (i + 0.5f) / cols;
  const int col = i - row * cols;
  B[col * rows + rows - 1 - row] = A[i];
}

cudaError_t launch_rotate(const float* A, float* B, int rows, int cols, cudaStream_t stream) {
  rotate<<<(rows * cols - 1) / 256 + 1, 256, 0, stream>>>(A, B, rows, cols);
  return cudaGetLastError();
}
