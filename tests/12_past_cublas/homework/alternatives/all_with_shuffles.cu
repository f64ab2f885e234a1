// All tasks by hand-written indices, shuffles and swizzles; comments are Chinese.
// 第十二章：对称矩阵只算一半；split-K。
#include "homework.cuh"

// 64 x 64 的块：256 个线程，每个线程 4 x 4
__global__ void __launch_bounds__(256) similarities(const float* A, float* S, int N, int K) {
  __shared__ float as[16][65], bs[16][65];
  const unsigned b = blockIdx.x;
  unsigned r = (unsigned)((sqrtf(8.0f * b + 1) - 1) / 2);
  while (r * (r + 1) / 2 > b) r--;
  while ((r + 1) * (r + 2) / 2 <= b) r++;
  const int row0 = 64 * r, col0 = 64 * (b - r * (r + 1) / 2), t = threadIdx.x, tx = t % 16, ty = t / 16;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int w = t; w < 1024; w += 256) {
      const int k = w % 16, i = w / 16;
      as[k][i] = row0 + i < N && k0 + k < K ? A[(size_t)(row0 + i) * K + k0 + k] : 0;
      bs[k][i] = col0 + i < N && k0 + k < K ? A[(size_t)(col0 + i) * K + k0 + k] : 0;
    }
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) acc[i][j] += as[k][ty + 16 * i] * bs[k][tx + 16 * j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int x = col0 + tx + 16 * j, y = row0 + ty + 16 * i;
      if (x < N && y < N) S[(size_t)y * N + x] = acc[i][j];
    }
  if (row0 == col0) return;
  // 镜像：分四批经过共享内存，每批 16 列
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i < 4; ++i) as[tx][ty + 16 * i] = acc[i][j];  // as[列][行]
    __syncthreads();
    for (int w = t; w < 1024; w += 256) {
      const int x = row0 + w % 64, y = col0 + 16 * j + w / 64;
      if (x < N && y < N) S[(size_t)y * N + x] = as[w / 64][w % 64];
    }
    __syncthreads();
  }
}

cudaError_t launch_similarities(const float* A, float* S, int N, int K, cudaStream_t stream) {
  const int n = (N + 63) / 64;
  similarities<<<n * (n + 1) / 2, 256, 0, stream>>>(A, S, N, K);
  return cudaGetLastError();
}

// 线程块是一维的 128 个线程：16 x 8，每个线程 2 行 x 4 列
__global__ void sliced_layer(const float* X, const float* W, const float* bias, float* Y, int M, int N, int K, int slices,
                             float* parts, int* arrived) {
  __shared__ float xs[16][33], ws[16][32];
  __shared__ int order;
  const int t = threadIdx.x, tx = t & 7, ty = t >> 3;
  const int tiles_n = (N + 31) / 32, tile = blockIdx.x, row0 = tile / tiles_n * 32, col0 = tile % tiles_n * 32;
  const size_t plane = (size_t)M * N;
  const int s = blockIdx.y;
  const int begin = (int)((long)K * s / slices), end = (int)((long)K * (s + 1) / slices);
  float acc[2][4] = {};
  for (int k0 = begin; k0 < end; k0 += 16) {
    for (int w = t; w < 512; w += 128) {
      int i = w / 16, k = w % 16;
      xs[k][i] = row0 + i < M && k0 + k < end ? X[(size_t)(row0 + i) * K + k0 + k] : 0.f;
      k = w / 32, i = w % 32;
      ws[k][i] = k0 + k < end && col0 + i < N ? W[(size_t)(k0 + k) * N + col0 + i] : 0.f;
    }
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j) acc[i][j] = fmaf(xs[k][ty + 16 * i], ws[k][tx + 8 * j], acc[i][j]);
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      const int r = row0 + ty + 16 * i, c = col0 + tx + 8 * j;
      if (r < M && c < N) __stcg(&parts[s * plane + (size_t)r * N + c], acc[i][j]);
    }
  __threadfence();  // 每个线程自己的字对其他块可见
  __syncthreads();
  if (t == 0) order = atomicInc((unsigned*)&arrived[tile], slices - 1);  // 最后一块自动归零
  __syncthreads();
  if (order + 1 < slices) return;
  __threadfence();
  for (int w = t; w < 1024; w += 128) {
    const int r = row0 + w / 32, c = col0 + w % 32;
    if (r >= M || c >= N) continue;
    float y = 0;
    for (int p = 0; p < slices; ++p) y += __ldcg(&parts[p * plane + (size_t)r * N + c]);
    Y[(size_t)r * N + c] = max(y + bias[c], 0.f);
  }
}

cudaError_t launch_sliced_layer(const float* X, const float* W, const float* bias, float* Y, int M, int N, int K,
                                int slices, float* parts, int* arrived, cudaStream_t stream) {
  const int tiles = ((M + 31) / 32) * ((N + 31) / 32);
  sliced_layer<<<dim3(tiles, slices), 128, 0, stream>>>(X, W, bias, Y, M, N, K, slices, parts, arrived);
  return cudaGetLastError();
}
