// A warp for 32 neighbouring nonzeros, whatever rows they belong to. Where there are none, cudaMemsetAsync does it all.
#include "homework.cuh"
__global__ void spmm(int rows, int n, int nnz, const int* rp, const int* ci, const float* v, const float* B, float* C) {
  const int warp = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x, j = blockIdx.y * 32 + lane;
  const int e0 = warp * 32;
  if (e0 >= nnz) return;
  const int e = e0 + lane, m = min(32, nnz - e0);
  int row = -1, col = 0;
  float val = 0;
  if (e < nnz) {
    int lo = 0, hi = rows - 1;
    while (lo < hi) {
      const int mid = (lo + hi + 1) / 2;
      if (rp[mid] <= e)
        lo = mid;
      else
        hi = mid - 1;
    }
    row = lo;
    col = ci[e];
    val = v[e];
  }
  float s = 0;
  int cur = __shfl_sync(~0u, row, 0);
  for (int k = 0; k < m; ++k) {
    const int r = __shfl_sync(~0u, row, k), c = __shfl_sync(~0u, col, k);
    const float a = __shfl_sync(~0u, val, k);
    if (r != cur) {
      if (j < n) atomicAdd(C + (size_t)cur * n + j, s);
      s = 0;
      cur = r;
    }
    if (j < n) s += a * B[(size_t)c * n + j];
  }
  if (j < n) atomicAdd(C + (size_t)cur * n + j, s);
}
cudaError_t launch_spmm(int rows, int cols, int n, int nnz, const int* row_ptr, const int* col_index,
                        const float* values, const float* B, float* C, cudaStream_t stream) {
  cudaError_t err = cudaMemsetAsync(C, 0, (size_t)rows * n * sizeof(float), stream);
  if (err != cudaSuccess) return err;
  if (nnz == 0) return cudaSuccess;
  const int warps = (nnz + 31) / 32;
  spmm<<<dim3((warps + 7) / 8, (n + 31) / 32), dim3(32, 8), 0, stream>>>(rows, n, nnz, row_ptr, col_index, values, B,
                                                                         C);
  return cudaGetLastError();
}
