// expect: symmetric_spmv efficiency sectors of loads
// points: symmetric_spmv 5..60
#include "homework.cuh"

constexpr int LANES = 1;

__global__ void symmetric_spmv(int rows, const int* row_ptr, const int* col_index, const float* values, const float* x,
                               float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int e = row_ptr[row]; e < row_ptr[row + 1]; ++e) {
    const int col = col_index[e];
    sum += values[e] * x[col];
    if (col != row) atomicAdd(y + col, values[e] * x[row]);
  }
  atomicAdd(y + row, sum);
}

cudaError_t launch_symmetric_spmv(int rows, int nnz, const int* row_ptr, const int* col_index, const float* values,
                                  const float* x, float* y, cudaStream_t stream) {
  const cudaError_t error = cudaMemsetAsync(y, 0, rows * sizeof(float), stream);
  if (error != cudaSuccess) return error;
  symmetric_spmv<<<(rows * LANES + 255) / 256, 256, 0, stream>>>(rows, row_ptr, col_index, values, x, y);
  return cudaGetLastError();
}
