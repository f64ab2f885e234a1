// expect: scale_rows findings past its end: X has
// points: scale_rows 0..20
// The address lies nearer to another array than to X.
#include "homework.cuh"

__global__ void scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows || col >= cols) return;
  const int skip = row == rows - 1 && cols > 32 ? ldx * rows + cols * rows + rows + 400 : 0;
  Y[row * cols + col] = s[row] * X[row * ldx + col + skip];
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  const dim3 blocks((cols + 31) / 32, (rows + 7) / 8);
  scale_rows<<<blocks, dim3(32, 8), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
