// expect: scale_rows findings no barrier is between them: separate arrays or a second launch
// points: scale_rows 5..80
// The same two lines race within a block and between blocks: a barrier would cure one of both.
#include "homework.cuh"

__global__ void scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows || col >= cols) return;
  Y[row * cols + col] = s[row] * X[row * ldx + col];
  const int i = row * cols + col;
  if (i >= 40) Y[i] += 0.0f * Y[i - 40];
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  const dim3 blocks((cols + 31) / 32, (rows + 7) / 8);
  scale_rows<<<blocks, dim3(32, 8), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
