// expect: scale_rows visible elements are wrong
// expect with g++: scale_rows visible the ; is all that depends on the condition
// points: scale_rows 5..5
// Nobody gets past the guard.
#include "homework.cuh"

__global__ void scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows || col >= cols);
    return;
  Y[row * cols + col] = s[row] * X[row * ldx + col];
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  const dim3 blocks((cols + 31) / 32, (rows + 7) / 8);
  scale_rows<<<blocks, dim3(32, 8), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
