// expect: scale_rows visible endless: no thread of this block has come to its end
// points: scale_rows 5..5
// The loop over columns does not step.
#include "homework.cuh"

__global__ void scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows || col >= cols) return;
  for (int c = col; c < cols;) Y[row * cols + c] = s[row] * X[row * ldx + c];
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  const dim3 blocks((cols + 31) / 32, (rows + 7) / 8);
  scale_rows<<<blocks, dim3(32, 8), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
