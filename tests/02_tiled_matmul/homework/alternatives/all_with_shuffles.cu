// All tasks by hand-written indices, shuffles and swizzles; comments are Chinese.
// 第二章：滑动和，以及两个矩阵乘法，每个线程 4x4 个元素。
#include "homework.cuh"

#include <cstdint>

// 每个线程两个输出
__global__ void moving_sum(const float* x, float* y, int n) {
  __shared__ float s[2 * 128 + 4];
  const int t = threadIdx.x;
  const int64_t g = int64_t(blockIdx.x) * 256;
  for (int i = t; i < 260; i += 128) {
    const int64_t from = g + i - 2;
    s[i] = (uint64_t)from < (uint64_t)n ? x[from] : 0.0f;  // 负数也在外面
  }
  __syncthreads();
  const float* w = s + t;
  if (g + t < n) y[g + t] = (w[0] + w[1]) + (w[3] + w[4]) + w[2];
  w += 128;
  if (g + 128 + t < n) y[g + 128 + t] = (w[0] + w[1]) + (w[3] + w[4]) + w[2];
}

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  moving_sum<<<(n + 255) / 256, 128, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}

// 64x64 的块，16x16 个线程，每个线程 4x4。k 每次 16。
#define LOAD(tile, from, rows, cols, r, c) tile = (r) < (rows) && (c) < (cols) ? from[size_t(r) * (cols) + (c)] : 0.0f

__global__ void __launch_bounds__(256, 2) at_b(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ __align__(16) float as[16][64];
  __shared__ __align__(16) float bs[16][64];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
  float acc[4][4] = {{0}};
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int w = t; w < 16 * 64; w += 256) {
      LOAD(as[w / 64][w % 64], A, K, M, k0 + w / 64, row0 + w % 64);
      LOAD(bs[w / 64][w % 64], B, K, N, k0 + w / 64, col0 + w % 64);
    }
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float4 a = *reinterpret_cast<const float4*>(&as[k][4 * ty]);
      const float4 b = *reinterpret_cast<const float4*>(&bs[k][4 * tx]);
      const float av[4] = {a.x, a.y, a.z, a.w}, bv[4] = {b.x, b.y, b.z, b.w};
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) acc[i][j] += av[i] * bv[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int r = row0 + 4 * ty + i, c = col0 + 4 * tx + j;
      if (r < M && c < N) C[size_t(r) * N + c] = acc[i][j];
    }
}

cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  at_b<<<dim3((N + 63) / 64, (M + 63) / 64), 256, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}

// 异或重排（swizzle）代替填充：第 r 行第 c 个字在 c ^ r
__global__ void a_bt(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float as[32 * 32], bs[32 * 32];
  const unsigned lane = threadIdx.x, warp = threadIdx.y;  // 32 x 4
  const unsigned row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  float acc[8] = {0};
  for (unsigned k0 = 0; k0 < K; k0 += 32) {
    for (unsigned r = warp; r < 32; r += 4) {
      LOAD(as[r * 32 + lane], A, M, K, row0 + r, k0 + lane);
      LOAD(bs[r * 32 + (lane ^ r)], B, N, K, col0 + r, k0 + lane);
    }
    __syncthreads();
    for (unsigned k = 0; k < 32; ++k) {
      const float b = bs[lane * 32 + (k ^ lane)];
      for (unsigned e = 0; e < 8; ++e) acc[e] += as[(warp + 4 * e) * 32 + k] * b;
    }
    __syncthreads();
  }
  for (unsigned e = 0; e < 8; ++e) {
    const unsigned r = row0 + warp + 4 * e, c = col0 + lane;
    if (r < M && c < N) C[size_t(r) * N + c] = acc[e];
  }
}

cudaError_t launch_matmul_a_bt(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  a_bt<<<dim3((N + 31) / 32, (M + 31) / 32), dim3(32, 4), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
