// All tasks by hand-written indices, shuffles and swizzles; comments are Chinese.
// 第十章：宽加载。
#include "homework.cuh"

#define FULL 0xffffffffu

// 四的倍数：float4；二的倍数：float2；否则一个字
template <typename V> __device__ float dot(V a, V b);
template <> __device__ float dot(float a, float b) { return a * b; }
template <> __device__ float dot(float2 a, float2 b) { return fmaf(a.x, b.x, a.y * b.y); }
template <> __device__ float dot(float4 a, float4 b) { return fmaf(a.x, b.x, a.y * b.y) + fmaf(a.z, b.z, a.w * b.w); }

template <typename V>
__global__ void row_dots(const float* A, const float* x, float* y, int rows, int n) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const V* a = (const V*)A + size_t(row) * n;
  const V* b = (const V*)x;
  float acc0 = 0, acc1 = 0;
  int i = threadIdx.x;
  for (; i + 32 < n; i += 64) {
    acc0 += dot<V>(a[i], b[i]);
    acc1 += dot<V>(a[i + 32], b[i + 32]);
  }
  if (i < n) acc0 += dot<V>(a[i], b[i]);
  acc0 += acc1;
  for (int o = 16; o >= 1; o /= 2) acc0 += __shfl_down_sync(FULL, acc0, o, 32);
  if (threadIdx.x == 0) y[row] = acc0;
}

cudaError_t launch_row_dots(const float* A, const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  const dim3 b(32, 8), g((rows + 7) / 8);
  switch (cols & 3) {
    case 0: row_dots<float4><<<g, b, 0, stream>>>(A, x, y, rows, cols / 4); break;
    case 2: row_dots<float2><<<g, b, 0, stream>>>(A, x, y, rows, cols / 2); break;
    default: row_dots<float><<<g, b, 0, stream>>>(A, x, y, rows, cols);
  }
  return cudaGetLastError();
}

// 128 x 64 的块，256 个线程，每个 8 x 4；共享内存里按 float4
__global__ void __launch_bounds__(256, 2) gram(const float* A, float* G, int N, int K, bool wide) {
  __shared__ float4 s[8][48];  // 每行：0..31 是 i 的 128 列，32..47 是 j 的 64 列
  const int t = threadIdx.x, tx = t & 15, ty = t >> 4;
  const int i0 = blockIdx.y * 128, j0 = blockIdx.x * 64;
  float acc[8][4];
#pragma unroll
  for (int e = 0; e < 32; ++e) acc[e >> 2][e & 3] = 0;
  for (int k0 = 0; k0 < K; k0 += 8) {
    for (int w = t; w < 8 * 48; w += 256) {
      const int k = w / 48, q = w % 48;
      const int col = q < 32 ? i0 + 4 * q : j0 + 4 * (q - 32);
      float4 v = {0, 0, 0, 0};
      if (k0 + k < K && col < N) {
        const float* p = A + size_t(k0 + k) * N + col;
        if (wide) {
          v = *(const float4*)p;
        } else {
          v.x = p[0];
          if (col + 1 < N) v.y = p[1];
          if (col + 2 < N) v.z = p[2];
          if (col + 3 < N) v.w = p[3];
        }
      }
      s[k][q] = v;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const float4 p = s[k][ty], q = s[k][16 + ty], b = s[k][32 + tx];
      const float a[8] = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w};
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        acc[e][0] += a[e] * b.x;
        acc[e][1] += a[e] * b.y;
        acc[e][2] += a[e] * b.z;
        acc[e][3] += a[e] * b.w;
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    const int i = i0 + (e < 4 ? 4 * ty + e : 64 + 4 * ty + e - 4), j = j0 + 4 * tx;
    if (i < N && j < N) {
      if (wide)
        *(float4*)(G + size_t(i) * N + j) = make_float4(acc[e][0], acc[e][1], acc[e][2], acc[e][3]);
      else
        for (int f = 0; f < 4 && j + f < N; ++f) G[size_t(i) * N + j + f] = acc[e][f];
    }
  }
}

cudaError_t launch_gram(const float* A, float* G, int N, int K, cudaStream_t stream) {
  gram<<<dim3((N + 63) / 64, (N + 127) / 128), 256, 0, stream>>>(A, G, N, K, !(N & 3));
  return cudaGetLastError();
}
