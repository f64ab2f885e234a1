// expect: spmm findings second-call
// points: spmm 5..80
// Warps take the next row by a counter, which nobody sets back for the next call.
#include "homework.cuh"

__device__ int next_row;

__global__ void spmm(int rows, int n, const int* row_ptr, const int* col_index, const float* values, const float* B,
                     float* C) {
  const int lane = threadIdx.x;
  for (;;) {
    int row = lane == 0 ? atomicAdd(&next_row, 1) : 0;
    row = __shfl_sync(0xffffffff, row, 0);
    if (row >= rows) return;
    for (int first_column = 0; first_column < n; first_column += 32) {
      const int j = first_column + lane, last = row_ptr[row + 1];
      float sum = 0.0f;
      for (int e = row_ptr[row]; e < last; e += 32) {
        const int my_col = e + lane < last ? col_index[e + lane] : 0;
        const float my_value = e + lane < last ? values[e + lane] : 0.0f;
        for (int k = 0; k < min(32, last - e); ++k) {
          const int col = __shfl_sync(0xffffffff, my_col, k);
          const float value = __shfl_sync(0xffffffff, my_value, k);
          if (j < n) sum += value * B[static_cast<size_t>(col) * n + j];
        }
      }
      if (j < n) C[static_cast<size_t>(row) * n + j] = sum;
    }
  }
}

cudaError_t launch_spmm(int rows, int cols, int n, int nnz, const int* row_ptr, const int* col_index,
                        const float* values, const float* B, float* C, cudaStream_t stream) {
  spmm<<<32, dim3(32, 4), 0, stream>>>(rows, n, row_ptr, col_index, values, B, C);
  return cudaGetLastError();
}
