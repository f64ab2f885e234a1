// expect: symmetric_spmv findings race-global
// points: symmetric_spmv 5..85
// The sum of a row is stored over what other rows have added.
#include "homework.cuh"

constexpr int LANES = 8;

__global__ void symmetric_spmv(int rows, const int* row_ptr, const int* col_index, const float* values, const float* x,
                               float* y) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = thread / LANES, lane = thread % LANES;
  float sum = 0.0f;
  if (row < rows) {
    for (int e = row_ptr[row] + lane; e < row_ptr[row + 1]; e += LANES) {
      const int col = col_index[e];
      const float value = values[e];
      sum += value * x[col];
      if (col != row) atomicAdd(y + col, value * x[row]);
    }
  }
  for (int apart = LANES / 2; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart, LANES);
  if (row < rows && lane == 0) y[row] = sum;
}

cudaError_t launch_symmetric_spmv(int rows, int nnz, const int* row_ptr, const int* col_index, const float* values,
                                  const float* x, float* y, cudaStream_t stream) {
  const cudaError_t error = cudaMemsetAsync(y, 0, rows * sizeof(float), stream);
  if (error != cudaSuccess) return error;
  symmetric_spmv<<<(rows * LANES + 255) / 256, 256, 0, stream>>>(rows, row_ptr, col_index, values, x, y);
  return cudaGetLastError();
}
