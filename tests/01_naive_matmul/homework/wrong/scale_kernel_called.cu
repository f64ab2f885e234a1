// expect: scale_rows compiles a kernel is launched, not called: scale_rows<<<grid, block>>>(...)
// points: scale_rows 0..0
// No <<<>>>.
#include "homework.cuh"

__global__ void scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows || col >= cols) return;
  Y[row * cols + col] = s[row] * X[row * ldx + col];
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols, cudaStream_t) {
  scale_rows(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
