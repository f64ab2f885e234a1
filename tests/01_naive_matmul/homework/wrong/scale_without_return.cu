// expect: scale_rows visible its caller gets nothing in particular
// points: scale_rows 5..15
// The product is computed, and given to nobody.
#include "homework.cuh"

__device__ float product(float a, float b) {
  if (a * b > 1e30f) return 1e30f;
}

__global__ void scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows || col >= cols) return;
  Y[row * cols + col] = product(s[row], X[row * ldx + col]);
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  const dim3 blocks((cols + 31) / 32, (rows + 7) / 8);
  scale_rows<<<blocks, dim3(32, 8), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
