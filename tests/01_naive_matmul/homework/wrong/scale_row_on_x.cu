// expect: scale_rows efficiency neighbouring threads are
// points: scale_rows 5..97
// Right, with the row on threadIdx.x.
#include "homework.cuh"

__global__ void scale(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.x * 32 + threadIdx.x, col = blockIdx.y * 8 + threadIdx.y;
  if (row >= rows || col >= cols) return;
  Y[row * cols + col] = s[row] * X[row * ldx + col];
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  scale<<<dim3((rows + 31) / 32, (cols + 7) / 8), dim3(32, 8), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
