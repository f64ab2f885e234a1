// expect: spmm visible elements are wrong
// points: spmm 5..58
// The loop over the columns ends at 128.
#include "homework.cuh"

__global__ void spmm(int rows, int n, const int* row_ptr, const int* col_index, const float* values, const float* B,
                     float* C) {
  __shared__ int c[64];
  __shared__ float v[64];
  int i = blockIdx.x, first = row_ptr[i], last = row_ptr[i + 1];
  for (int j0 = 0; j0 < min(n, 128); j0 += 64) {
    int j = j0 + threadIdx.x;
    float s = 0;
    for (int e0 = first; e0 < last; e0 += 64) {
      int e = e0 + threadIdx.x;
      __syncthreads();
      if (e < last) {
        c[threadIdx.x] = col_index[e];
        v[threadIdx.x] = values[e];
      }
      __syncthreads();
      int m = min(64, last - e0);
      if (j < n)
        for (int q = 0; q < m; q++) s += v[q] * B[(size_t)c[q] * n + j];
    }
    if (j < n) C[(size_t)i * n + j] = s;
  }
}
cudaError_t launch_spmm(int rows, int cols, int n, int nnz, const int* row_ptr, const int* col_index,
                        const float* values, const float* B, float* C, cudaStream_t stream) {
  spmm<<<rows, 64, 0, stream>>>(rows, n, row_ptr, col_index, values, B, C);
  return cudaGetLastError();
}
