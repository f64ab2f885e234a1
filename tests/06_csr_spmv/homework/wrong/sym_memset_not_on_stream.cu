// expect: symmetric_spmv findings cudaMemset goes to the default stream
// points: symmetric_spmv 5..85
// The kernel is on the stream, what clears y is not: it may come after the first additions.
#include "homework.cuh"

__global__ void symmetric(int rows, const int* row_ptr, const int* col_index, const float* values, const float* x,
                          float* y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  const int end = row_ptr[row + 1];
  for (int e = row_ptr[row] + lane; e < end; e += 32) {
    const int j = col_index[e];
    sum += values[e] * x[j];
    if (j != row) atomicAdd(&y[j], values[e] * x[row]);
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (lane == 0) atomicAdd(&y[row], sum);
}

cudaError_t launch_symmetric_spmv(int rows, int, const int* row_ptr, const int* col_index, const float* values,
                                  const float* x, float* y, cudaStream_t stream) {
  cudaMemset(y, 0, rows * sizeof(float));
  symmetric<<<(rows + 3) / 4, 128, 0, stream>>>(rows, row_ptr, col_index, values, x, y);
  return cudaGetLastError();
}
