// expect: row_sums efficiency neighbouring threads are
// points: row_sums 80..86
#include "homework.cuh"

__global__ void row_sums(const float* A, float* sum, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += A[size_t(row) * cols + c];
  sum[row] = s;
}

cudaError_t launch_row_sums(const float* A, float* sum, int rows, int cols, cudaStream_t stream) {
  row_sums<<<(rows + 31) / 32, 32, 0, stream>>>(A, sum, rows, cols);
  return cudaGetLastError();
}
