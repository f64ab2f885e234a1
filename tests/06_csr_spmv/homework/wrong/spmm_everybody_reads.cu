// expect: spmm efficiency requests of loads
// points: spmm 5..90
// Coalesced, but every lane fetches every nonzero.
#include "homework.cuh"

__global__ void spmm(int rows, int cols, int n, const int* row_ptr, const int* col_index, const float* values,
                     const float* B, float* C) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, j = blockIdx.y * 32 + threadIdx.x;
  if (row >= rows || j >= n) return;
  float sum = 0.0f;
  for (int e = row_ptr[row]; e < row_ptr[row + 1]; ++e) sum += values[e] * B[col_index[e] * n + j];
  C[row * n + j] = sum;
}

cudaError_t launch_spmm(int rows, int cols, int n, int nnz, const int* row_ptr, const int* col_index,
                        const float* values, const float* B, float* C, cudaStream_t stream) {
  spmm<<<dim3((rows + 7) / 8, (n + 31) / 32), dim3(32, 8), 0, stream>>>(rows, cols, n, row_ptr, col_index, values, B,
                                                                        C);
  return cudaGetLastError();
}
