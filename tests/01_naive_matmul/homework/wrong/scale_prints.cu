// expect: scale_rows visible | \x1b[31mcolumn 0
// points: scale_rows 5..15
// Looks for the mistake by printing.
#include "homework.cuh"
#include <cstdio>

__global__ void scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows || col >= cols) return;
  if (row == 0 && col < 3) printf("\033[31mcolumn %d\n", col);
  Y[row * cols + col] = s[row] * X[row * cols + col];
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  const dim3 blocks((cols + 31) / 32, (rows + 7) / 8);
  scale_rows<<<blocks, dim3(32, 8), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
