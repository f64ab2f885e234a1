// Words that nvcc moves together: memcpy from an address that is promised to be aligned, and words of shared memory side by side.
#include "homework.cuh"
#include <cstring>

__global__ void row_dots_wide(const float* A, const float* x, float* y, int rows, int cols) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 4 * lane; c < cols; c += 128) {
    float a[4], b[4];
    memcpy(a, __builtin_assume_aligned(A + row * cols + c, 16), 16);
    memcpy(b, __builtin_assume_aligned(x + c, 16), 16);
#pragma unroll
    for (int i = 0; i < 4; ++i) sum += a[i] * b[i];
  }
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (lane == 0) y[row] = sum;
}

__global__ void row_dots(const float* A, const float* x, float* y, int rows, int cols) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = lane; c < cols; c += 32) sum += A[row * cols + c] * x[c];
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (lane == 0) y[row] = sum;
}

cudaError_t launch_row_dots(const float* A, const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (cols % 4 == 0)
    row_dots_wide<<<(rows + 7) / 8, 256, 0, stream>>>(A, x, y, rows, cols);
  else
    row_dots<<<(rows + 7) / 8, 256, 0, stream>>>(A, x, y, rows, cols);
  return cudaGetLastError();
}


template <bool WIDE>
__device__ float4 four(const float* A, int N, int K, int k, int col) {
  if (k >= K) return make_float4(0, 0, 0, 0);
  if (WIDE) {
    if (col >= N) return make_float4(0, 0, 0, 0);
    return *reinterpret_cast<const float4*>(&A[k * N + col]);
  }
  float4 v;
  v.x = col < N ? A[k * N + col] : 0.0f;
  v.y = col + 1 < N ? A[k * N + col + 1] : 0.0f;
  v.z = col + 2 < N ? A[k * N + col + 2] : 0.0f;
  v.w = col + 3 < N ? A[k * N + col + 3] : 0.0f;
  return v;
}

template <bool WIDE>
__global__ void gram(const float* A, float* G, int N, int K) {
  __shared__ float4 left[16][16];   // 16 rows of A, 64 columns
  __shared__ float4 right[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int i0 = blockIdx.y * 64, j0 = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
    left[ty][tx] = four<WIDE>(A, N, K, k0 + ty, i0 + 4 * tx);
    right[ty][tx] = four<WIDE>(A, N, K, k0 + ty, j0 + 4 * tx);
    __syncthreads();
    const float* const l = &left[0][0].x;
    const float* const r = &right[0][0].x;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float a[4], b[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) a[i] = l[64 * k + 4 * ty + i];
#pragma unroll
      for (int j = 0; j < 4; ++j) b[j] = r[64 * k + 4 * tx + j];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = i0 + 4 * ty + i;
    if (row >= N) break;
    if (WIDE) {
      if (j0 + 4 * tx < N)
        *reinterpret_cast<float4*>(&G[row * N + j0 + 4 * tx]) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (j0 + 4 * tx + j < N) G[row * N + j0 + 4 * tx + j] = sum[i][j];
    }
  }
}

cudaError_t launch_gram(const float* A, float* G, int N, int K, cudaStream_t stream) {
  const dim3 grid((N + 63) / 64, (N + 63) / 64), block(16, 16);
  if (N % 4 == 0)
    gram<true><<<grid, block, 0, stream>>>(A, G, N, K);
  else
    gram<false><<<grid, block, 0, stream>>>(A, G, N, K);
  return cudaGetLastError();
}
