// expect: scale_rows findings out-of-bounds
// points: scale_rows 5..85
// "And" in the place of "or": whoever is outside in one direction only stays.
#include "homework.cuh"

__global__ void scale(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows && col >= cols) return;
  Y[row * cols + col] = s[row] * X[row * ldx + col];
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  scale<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
