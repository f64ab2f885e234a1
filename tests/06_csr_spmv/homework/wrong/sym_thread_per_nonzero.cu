// expect: symmetric_spmv efficiency atomic updates
// points: symmetric_spmv 5..80
// A thread for each nonzero, which looks for its row: two atomics each.
#include "homework.cuh"

__global__ void symmetric_spmv(int rows, int nnz, const int* row_ptr, const int* col_index, const float* values,
                               const float* x, float* y) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= nnz) return;
  int low = 0, high = rows;  // the last row that begins at e or in front
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (row_ptr[middle] <= e)
      low = middle;
    else
      high = middle;
  }
  const int row = low, col = col_index[e];
  atomicAdd(y + row, values[e] * x[col]);
  if (col != row) atomicAdd(y + col, values[e] * x[row]);
}

cudaError_t launch_symmetric_spmv(int rows, int nnz, const int* row_ptr, const int* col_index, const float* values,
                                  const float* x, float* y, cudaStream_t stream) {
  cudaMemsetAsync(y, 0, rows * sizeof(float), stream);
  if (nnz == 0) return cudaGetLastError();
  symmetric_spmv<<<(nnz + 127) / 128, 128, 0, stream>>>(rows, nnz, row_ptr, col_index, values, x, y);
  return cudaGetLastError();
}
