// expect: spmm visible the sum is not set to 0 before the next row
// points: spmm 5..58
#include "homework.cuh"

__global__ void spmm(int rows, int cols, int n, const int* row_ptr, const int* col_index, const float* values,
                     const float* B, float* C) {
  const int j = threadIdx.x;
  float sum = 0.0f;
  for (int row = 0; row < rows; ++row) {
    for (int e = row_ptr[row]; e < row_ptr[row + 1]; ++e) sum += values[e] * B[col_index[e] * n + j];
    C[row * n + j] = sum;
  }
}

cudaError_t launch_spmm(int rows, int cols, int n, int nnz, const int* row_ptr, const int* col_index,
                        const float* values, const float* B, float* C, cudaStream_t stream) {
  spmm<<<1, n, 0, stream>>>(rows, cols, n, row_ptr, col_index, values, B, C);
  return cudaGetLastError();
}
