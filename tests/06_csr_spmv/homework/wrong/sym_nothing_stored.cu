// expect: symmetric_spmv visible zeros have to be written, too
// points: symmetric_spmv 5..43
// Returns at once where nothing is stored: y is 0 then, and has to be set.
#include "homework.cuh"
__global__ void zero(int n, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = 0;
}
__global__ void sym(int rows, int nnz, const int* rp, const int* ci, const float* v, const float* x, float* y) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  int lo = 0, hi = rows - 1;
  if (e < nnz)
    while (lo < hi) {
      int mid = (lo + hi + 1) / 2;
      if (rp[mid] <= e)
        lo = mid;
      else
        hi = mid - 1;
    }
  else
    lo = -1;
  float p = 0;
  if (e < nnz) {
    int c = ci[e];
    float a = v[e];
    p = a * x[c];
    if (c != lo) atomicAdd(y + c, a * x[lo]);
  }
  for (int o = 1; o < 32; o *= 2) {
    float q = __shfl_up_sync(~0u, p, o);
    int r = __shfl_up_sync(~0u, lo, o);
    if (lane >= o && r == lo) p += q;
  }
  int next = __shfl_down_sync(~0u, lo, 1);
  if (e < nnz && (lane == 31 || next != lo)) atomicAdd(y + lo, p);
}
cudaError_t launch_symmetric_spmv(int rows, int nnz, const int* row_ptr, const int* col_index, const float* values,
                                  const float* x, float* y, cudaStream_t stream) {
  if (nnz == 0) return cudaSuccess;
  zero<<<8, 128, 0, stream>>>(rows, y);
  cudaError_t e = cudaGetLastError();
  if (e) return e;
  sym<<<(nnz + 255) / 256, 256, 0, stream>>>(rows, nnz, row_ptr, col_index, values, x, y);
  return cudaGetLastError();
}
