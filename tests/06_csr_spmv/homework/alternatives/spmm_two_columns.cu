// A lane has two elements of C, 32 apart; a warp for each row.
#include "homework.cuh"

__global__ void spmm(int rows, int cols, int n, const int* row_ptr, const int* col_index, const float* values,
                     const float* B, float* C) {
  const int lane = threadIdx.x;
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const int first = row_ptr[row], last = row_ptr[row + 1];
  for (int j = lane; j < n + lane; j += 64) {  // the same number of rounds for all lanes
    float left = 0.0f, right = 0.0f;
    for (int e = first; e < last; e += 32) {
      const int count = min(32, last - e);
      const int my_col = lane < count ? col_index[e + lane] : 0;
      const float my_value = lane < count ? values[e + lane] : 0.0f;
      for (int k = 0; k < count; ++k) {
        const float* b = B + static_cast<size_t>(__shfl_sync(0xffffffff, my_col, k)) * n;
        const float value = __shfl_sync(0xffffffff, my_value, k);
        if (j < n) left += value * b[j];
        if (j + 32 < n) right += value * b[j + 32];
      }
    }
    if (j < n) C[static_cast<size_t>(row) * n + j] = left;
    if (j + 32 < n) C[static_cast<size_t>(row) * n + j + 32] = right;
  }
}

cudaError_t launch_spmm(int rows, int cols, int n, int nnz, const int* row_ptr, const int* col_index,
                        const float* values, const float* B, float* C, cudaStream_t stream) {
  spmm<<<(rows + 3) / 4, dim3(32, 4), 0, stream>>>(rows, cols, n, row_ptr, col_index, values, B, C);
  return cudaGetLastError();
}
