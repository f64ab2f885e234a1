// expect: scale_rows visible uninitialized
// points: scale_rows 5..15
// Half of the factors are missing.
#include "homework.cuh"

__global__ void scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows || col >= cols) return;
  float factor;
  if (row % 2 == 1) factor = s[row];
  Y[row * cols + col] = factor * X[row * ldx + col];
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  const dim3 blocks((cols + 31) / 32, (rows + 7) / 8);
  scale_rows<<<blocks, dim3(32, 8), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
