// expect: scale_rows efficiency launches
// points: scale_rows 5..97
// Right, but every row is a launch of its own.
#include "homework.cuh"

__global__ void k(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;
  Y[row * cols + col] = s[row] * X[row * ldx + col];
}
cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  dim3 block(32, 8);
  dim3 grid((cols + 31) / 32, (rows + 7) / 8);
  for (int r = 0; r < rows; r++)
    k<<<dim3((cols + 31) / 32, 1), dim3(32, 1), 0, stream>>>(X + (size_t)r * ldx, ldx, s + r, Y + (size_t)r * cols, 1,
                                                             cols);
  return cudaGetLastError();
}
