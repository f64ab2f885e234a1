// expect: symmetric_spmv findings launch 1 of 2
// points: symmetric_spmv 5..85
// Looks after each launch, and forgets what it saw after the first.
#include "homework.cuh"

__global__ void zero(int rows, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) y[i] = 0.0f;
}

__global__ void add(int rows, const int* row_ptr, const int* col_index, const float* values, const float* x, float* y) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = thread / 8, lane = thread % 8;
  float sum = 0.0f;
  if (row < rows) {
    for (int e = row_ptr[row] + lane; e < row_ptr[row + 1]; e += 8) {
      sum += values[e] * x[col_index[e]];
      if (col_index[e] != row) atomicAdd(y + col_index[e], values[e] * x[row]);
    }
  }
  for (int apart = 4; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart, 8);
  if (row < rows && lane == 0) atomicAdd(y + row, sum);
}

cudaError_t launch_symmetric_spmv(int rows, int nnz, const int* row_ptr, const int* col_index, const float* values,
                                  const float* x, float* y, cudaStream_t stream) {
  zero<<<(rows + 255) / 256, 256, 0, stream>>>(rows, y);
  cudaError_t error = cudaGetLastError();
  add<<<(rows * 8 + 255) / 256, 256, 0, stream>>>(rows, row_ptr, col_index, values, x, y);
  error = cudaGetLastError();
  return error;
}
