// The function of host code launches the kernel, and returns nothing.
// expect: scale_rows visible comes to its end without a return
// points: scale_rows 5..48
#include "homework.cuh"

__global__ void scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (row < rows && col < cols) Y[size_t(row) * cols + col] = s[row] * X[size_t(row) * ldx + col];
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  scale_rows<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(X, ldx, s, Y, rows, cols);
}
