// expect: scale_rows compiles parameter 5 is unsigned int, the contract has int
// points: scale_rows 0..0
// Another function, for C++.
#include "homework.cuh"

__global__ void scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows || col >= cols) return;
  Y[row * cols + col] = s[row] * X[row * ldx + col];
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, unsigned rows, int cols,
                              cudaStream_t stream) {
  const dim3 blocks((cols + 31) / 32, (rows + 7) / 8);
  scale_rows<<<blocks, dim3(32, 8), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
