// A thread for each row, but the block fetches the nonzeros of its rows together, through shared memory.
#include "homework.cuh"

constexpr int ROWS = 64;    // of a block, and its threads
constexpr int STAGE = 512;  // nonzeros at a time

__global__ void symmetric_spmv(int rows, const int* row_ptr, const int* col_index, const float* values, const float* x,
                               float* y) {
  __shared__ int cols[STAGE];
  __shared__ float vals[STAGE];
  const int t = threadIdx.x;
  const int row0 = blockIdx.x * ROWS, row = row0 + t;
  const int begin = row_ptr[row0], end = row_ptr[min(row0 + ROWS, rows)];
  const int first = row < rows ? row_ptr[row] : end, last = row < rows ? row_ptr[row + 1] : end;
  const float x_row = row < rows ? x[row] : 0.0f;
  float sum = 0.0f;
  for (int stage = begin; stage < end; stage += STAGE) {
    const int count = min(STAGE, end - stage);
    for (int i = t; i < count; i += ROWS) {
      cols[i] = col_index[stage + i];
      vals[i] = values[stage + i];
    }
    __syncthreads();
    for (int e = max(first, stage); e < min(last, stage + count); ++e) {
      const int col = cols[e - stage];
      const float value = vals[e - stage];
      sum += value * x[col];
      if (col != row) atomicAdd(y + col, value * x_row);
    }
    __syncthreads();
  }
  if (row < rows) atomicAdd(y + row, sum);
}

cudaError_t launch_symmetric_spmv(int rows, int nnz, const int* row_ptr, const int* col_index, const float* values,
                                  const float* x, float* y, cudaStream_t stream) {
  cudaMemsetAsync(y, 0, sizeof(float) * static_cast<size_t>(rows), stream);
  symmetric_spmv<<<(rows + ROWS - 1) / ROWS, ROWS, 0, stream>>>(rows, row_ptr, col_index, values, x, y);
  return cudaGetLastError();
}
