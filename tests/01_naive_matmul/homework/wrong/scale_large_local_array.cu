// expect: scale_rows visible stack-overflow: this thread
// expect: scale_rows visible the local variables of scale_rows are 400
// points: scale_rows 5..5
// 400 KB for each thread.
#include "homework.cuh"

__global__ void scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows || col >= cols) return;
  float row_of_x[100000];
  for (int c = 0; c < cols; ++c) row_of_x[c] = X[row * ldx + c];
  Y[row * cols + col] = s[row] * row_of_x[col];
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  const dim3 blocks((cols + 31) / 32, (rows + 7) / 8);
  scale_rows<<<blocks, dim3(32, 8), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
