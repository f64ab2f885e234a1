// expect: symmetric_spmv efficiency atomic updates
// points: symmetric_spmv 5..80
// Every nonzero is added to its own row by an atomic of its own.
#include "homework.cuh"

constexpr int LANES = 8;

__global__ void symmetric_spmv(int rows, const int* row_ptr, const int* col_index, const float* values, const float* x,
                               float* y) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = thread / LANES, lane = thread % LANES;
  if (row >= rows) return;
  for (int e = row_ptr[row] + lane; e < row_ptr[row + 1]; e += LANES) {
    const int col = col_index[e];
    const float value = values[e];
    atomicAdd(y + row, value * x[col]);
    if (col != row) atomicAdd(y + col, value * x[row]);
  }
}

cudaError_t launch_symmetric_spmv(int rows, int nnz, const int* row_ptr, const int* col_index, const float* values,
                                  const float* x, float* y, cudaStream_t stream) {
  const cudaError_t error = cudaMemsetAsync(y, 0, rows * sizeof(float), stream);
  if (error != cudaSuccess) return error;
  symmetric_spmv<<<(rows * LANES + 255) / 256, 256, 0, stream>>>(rows, row_ptr, col_index, values, x, y);
  return cudaGetLastError();
}
