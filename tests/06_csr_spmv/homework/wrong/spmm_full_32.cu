// expect: spmm visible after the last full 32 are missing
// points: spmm 5..58
#include "homework.cuh"

__global__ void spmm(int rows, int cols, int n, const int* row_ptr, const int* col_index, const float* values,
                     const float* B, float* C) {
  const int lane = threadIdx.x;
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  const int j = blockIdx.y * 32 + lane;
  if (row >= rows) return;
  float sum = 0.0f;
  const int last = row_ptr[row + 1];
  for (int e = row_ptr[row]; e + 32 <= last; e += 32) {
    const int my_col = e + lane < last ? col_index[e + lane] : 0;
    const float my_value = e + lane < last ? values[e + lane] : 0.0f;
    for (int k = 0; k < min(32, last - e); ++k) {
      const int col = __shfl_sync(0xffffffff, my_col, k);
      const float value = __shfl_sync(0xffffffff, my_value, k);
      if (j < n) sum += value * B[col * n + j];
    }
  }
  if (j < n) C[row * n + j] = sum;
}

cudaError_t launch_spmm(int rows, int cols, int n, int nnz, const int* row_ptr, const int* col_index,
                        const float* values, const float* B, float* C, cudaStream_t stream) {
  spmm<<<dim3((rows + 7) / 8, (n + 31) / 32), dim3(32, 8), 0, stream>>>(rows, cols, n, row_ptr, col_index, values, B,
                                                                        C);
  return cudaGetLastError();
}
