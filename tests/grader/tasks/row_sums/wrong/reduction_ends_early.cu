// expect: row_sums visible 2 of 7 shapes right
// points: row_sums 5..20
// The last step of the reduction is missing.
#include "homework.cuh"

__global__ void row_sums(const float* A, float* sum, int rows, int cols) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float s = 0;
  for (int c = lane; c < cols; c += 32) s += A[size_t(row) * cols + c];
  for (int d = 16; d > 1; d /= 2) s += __shfl_down_sync(0xffffffff, s, d);
  if (lane == 0) sum[row] = s;
}

cudaError_t launch_row_sums(const float* A, float* sum, int rows, int cols, cudaStream_t stream) {
  row_sums<<<(rows + 7) / 8, 256, 0, stream>>>(A, sum, rows, cols);
  return cudaGetLastError();
}
