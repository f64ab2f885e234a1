// expect: scale_rows visible each was added to what was there
// points: scale_rows 5..48
// Adds to Y, which holds garbage.
#include "homework.cuh"

__global__ void scale(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows || col >= cols) return;
  Y[row * cols + col] += s[row] * X[row * ldx + col];
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  scale<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
