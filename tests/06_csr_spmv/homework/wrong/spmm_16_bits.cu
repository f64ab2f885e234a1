// expect: spmm visible cols = 60000
// points: spmm 5..58
// Keeps where the row of B begins in 16 bits.
#include "homework.cuh"
#define FULL 0xffffffffu
__global__ void spmm(int rows, int n, const int* rp, const int* ci, const float* v, const float* B, float* C) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  const int tiles = (n + 31) >> 5, total = rows * tiles;
  for (int w = warp; w < total; w += (gridDim.x * blockDim.x) >> 5) {
    const int row = w / tiles, j = (w % tiles) * 32 + lane;
    const float* b = B + j;
    float acc = 0.f;
    int e = rp[row];
    const int last = rp[row + 1];
    while (e < last) {
      const int take = min(8, last - e);
      short pack = 0;
      float val = 0.f;
      if (lane < take) {
        pack = ci[e + lane] * n;
        val = v[e + lane];
      }
      for (int k = 0; k < take; k++) {
        int off = __shfl_sync(FULL, pack, k);
        float a = __shfl_sync(FULL, val, k);
        acc = j < n ? fmaf(a, b[off], acc) : acc;
      }
      e += take;
    }
    if (j < n) C[row * n + j] = acc;
  }
}
cudaError_t launch_spmm(int rows, int cols, int n, int nnz, const int* row_ptr, const int* col_index,
                        const float* values, const float* B, float* C, cudaStream_t stream) {
  spmm<<<48, 160, 0, stream>>>(rows, n, row_ptr, col_index, values, B, C);
  return cudaGetLastError();
}
