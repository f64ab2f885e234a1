// expect: scale_rows findings host-pointer
// points: scale_rows 5..85
// From row 32,768 on the number of the row is negative.
#include "homework.cuh"

__global__ void k(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  short row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;
  Y[row * cols + col] = s[row] * X[row * ldx + col];
}
cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  dim3 block(32, 8);
  dim3 grid((cols + 31) / 32, (rows + 7) / 8);
  k<<<grid, block, 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
