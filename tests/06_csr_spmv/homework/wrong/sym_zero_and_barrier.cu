// expect: symmetric_spmv findings race-global
// expect: symmetric_spmv hidden the last block ran first
// points: symmetric_spmv 5..85
// As sym_zero_in_kernel, with a barrier after it: that orders the threads of a block, and no other blocks.
#include "homework.cuh"

constexpr int LANES = 8;

__global__ void symmetric_spmv(int rows, const int* row_ptr, const int* col_index, const float* values, const float* x,
                               float* y) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = thread / LANES, lane = thread % LANES;
  if (row < rows && lane == 0) y[row] = 0.0f;
  __syncthreads();
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
  if (row < rows && lane == 0) atomicAdd(y + row, sum);
}

cudaError_t launch_symmetric_spmv(int rows, int nnz, const int* row_ptr, const int* col_index, const float* values,
                                  const float* x, float* y, cudaStream_t stream) {
  symmetric_spmv<<<(rows * LANES + 255) / 256, 256, 0, stream>>>(rows, row_ptr, col_index, values, x, y);
  return cudaGetLastError();
}
