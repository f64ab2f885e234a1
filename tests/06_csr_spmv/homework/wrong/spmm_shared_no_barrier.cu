// expect: spmm findings stage_col
// points: spmm 5..80
#include "homework.cuh"

__global__ void spmm(int rows, int cols, int n, const int* row_ptr, const int* col_index, const float* values,
                     const float* B, float* C) {
  __shared__ int stage_col[64];
  __shared__ float stage_value[64];
  const int t = threadIdx.x, row = blockIdx.x, j = blockIdx.y * 64 + t;
  float sum = 0.0f;
  const int last = row_ptr[row + 1];
  for (int e = row_ptr[row]; e < last; e += 64) {
    if (e + t < last) {
      stage_col[t] = col_index[e + t];
      stage_value[t] = values[e + t];
    }
    for (int k = 0; k < min(64, last - e) && j < n; ++k)
      sum += stage_value[k] * B[static_cast<size_t>(stage_col[k]) * n + j];
    __syncthreads();
  }
  if (j < n) C[static_cast<size_t>(row) * n + j] = sum;
}

cudaError_t launch_spmm(int rows, int cols, int n, int nnz, const int* row_ptr, const int* col_index,
                        const float* values, const float* B, float* C, cudaStream_t stream) {
  spmm<<<dim3(rows, (n + 63) / 64), 64, 0, stream>>>(rows, cols, n, row_ptr, col_index, values, B, C);
  return cudaGetLastError();
}
