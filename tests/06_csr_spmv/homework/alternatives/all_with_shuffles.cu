// All tasks by hand-written indices, shuffles and swizzles; comments are Chinese.
// 第六章：稀疏矩阵。
#include "homework.cuh"

// 两遍：先求和（包括对角元素），再减去对角元素的部分——不行，会抵消；所以在循环里判断
__global__ void jacobi_step(int rows, const int* __restrict__ row_ptr, const int* __restrict__ col_index,
                            const float* __restrict__ values, const float* __restrict__ b, const float* __restrict__ x,
                            float* __restrict__ x_new) {
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
    int e = row_ptr[row], left = row_ptr[row + 1] - e;
    const int* c = col_index + e;
    const float* v = values + e;
    float sum = 0.0f, d = 1.0f;
    while (left--) {
      const int j = *c++;
      const float a = *v++;
      if (j == row) {
        d = a;
        continue;
      }
      sum += a * x[j];
    }
    x_new[row] = (b[row] - sum) / d;
  }
}

cudaError_t launch_jacobi_step(int rows, const int* row_ptr, const int* col_index, const float* values, const float* b,
                               const float* x, float* x_new, cudaStream_t stream) {
  jacobi_step<<<min((rows + 63) / 64, 65535), 64, 0, stream>>>(rows, row_ptr, col_index, values, b, x, x_new);
  return cudaGetLastError();
}

// 一个 warp 一行；行内元素多于 32 时循环，全部 lane 都参加 shuffle
__global__ void symmetric(int rows, const int* row_ptr, const int* col_index, const float* values, const float* x, float* y) {
  const int lane = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
  const bool valid = row < rows;
  const int first = valid ? row_ptr[row] : 0, last = valid ? row_ptr[row + 1] : 0;
  const float mine = valid ? x[row] : 0.f;
  float sum = 0.f;
  for (int e0 = first; e0 < last; e0 += 32) {
    const int e = e0 + lane;
    if (e < last) {
      const int col = col_index[e];
      const float a = values[e];
      sum += a * x[col];
      if (col != row) atomicAdd(y + col, a * mine);
    }
  }
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  if (lane == 0 && first < last) atomicAdd(y + row, sum);
}

cudaError_t launch_symmetric_spmv(int rows, int nnz, const int* row_ptr, const int* col_index, const float* values,
                                  const float* x, float* y, cudaStream_t stream) {
  cudaError_t e = cudaMemsetAsync(y, 0, sizeof(*y) * rows, stream);
  if (e == cudaSuccess && nnz > 0) {
    symmetric<<<(rows + 3) / 4, dim3(32, 4), 0, stream>>>(rows, row_ptr, col_index, values, x, y);
    e = cudaGetLastError();
  }
  return e;
}

// 每个 lane 两列（相隔 32），非零元素用 shuffle 传
__global__ void spmm(int rows, int n, const int* row_ptr, const int* col_index, const float* values, const float* B, float* C) {
  const unsigned full = 0xffffffff;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int row = blockIdx.y + gridDim.y * blockIdx.z, j = (blockIdx.x * 2 + warp) * 64 + lane;
  if (row >= rows || (blockIdx.x * 2 + warp) * 64 >= n) return;
  float s = 0, t = 0;
  const int last = row_ptr[row + 1];
  for (int e = row_ptr[row] + lane; __any_sync(full, e < last); e += 32) {
    const int col = e < last ? col_index[e] : 0;
    const float val = e < last ? values[e] : 0;
    const int left = min(32, last - (e - lane));
    for (int k = 0; k < left; ++k) {
      const float* b = B + (size_t)__shfl_sync(full, col, k) * n + j;
      const float a = __shfl_sync(full, val, k);
      if (j < n) s += a * b[0];
      if (j + 32 < n) t += a * b[32];
    }
  }
  float* c = C + (size_t)row * n + j;
  if (j < n) c[0] = s;
  if (j + 32 < n) c[32] = t;
}

cudaError_t launch_spmm(int rows, int cols, int n, int nnz, const int* row_ptr, const int* col_index,
                        const float* values, const float* B, float* C, cudaStream_t stream) {
  spmm<<<dim3((n + 127) / 128, min(rows, 32768), (rows + 32767) / 32768), 64, 0, stream>>>(rows, n, row_ptr, col_index, values, B, C);
  return cudaGetLastError();
}
