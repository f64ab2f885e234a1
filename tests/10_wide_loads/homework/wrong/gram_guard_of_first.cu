// expect: gram findings out-of-bounds
// points: gram 80..85
// Word by word, but all four are fetched where the first is inside: the next row, and what lies beyond A.
#include "homework.cuh"

constexpr int TILE = 32, DEPTH = 8;

/// Four neighbours of a row of A, zero where there is none.
__device__ float4 four(const float* row, int first, int words) {
  if (words % 4 == 0)
    return first < words ? *reinterpret_cast<const float4*>(row + first) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  return make_float4(first < words ? row[first] : 0.0f, first < words ? row[first + 1] : 0.0f,
                     first < words ? row[first + 2] : 0.0f, first < words ? row[first + 3] : 0.0f);
}

__global__ void gram(const float* A, float* G, int N, int K) {
  __shared__ alignas(16) float Is[DEPTH][TILE];  // Is[k][i] = A[k0 + k][row0 + i]
  __shared__ alignas(16) float Js[DEPTH][TILE];  // Js[k][j] = A[k0 + k][col0 + j]
  const int tx = threadIdx.x % 8, ty = threadIdx.x / 8;
  const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += DEPTH) {
    const int k = k0 + ty;
    const float* row = A + size_t(k) * N;
    const float4 none = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float4 is = k < K ? four(row, row0 + 4 * tx, N) : none;
    const float4 js = k < K ? four(row, col0 + 4 * tx, N) : none;
    *reinterpret_cast<float4*>(&Is[ty][4 * tx]) = is;
    *reinterpret_cast<float4*>(&Js[ty][4 * tx]) = js;
    __syncthreads();
    for (int step = 0; step < DEPTH; ++step) {
      const float4 a = *reinterpret_cast<const float4*>(&Is[step][4 * ty]);
      const float4 b = *reinterpret_cast<const float4*>(&Js[step][4 * tx]);
      const float as[4] = {a.x, a.y, a.z, a.w}, bs[4] = {b.x, b.y, b.z, b.w};
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += as[i] * bs[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = row0 + 4 * ty + i, col = col0 + 4 * tx + j;
      if (row < N && col < N) G[size_t(row) * N + col] = sum[i][j];
    }
}

cudaError_t launch_gram(const float* A, float* G, int N, int K, cudaStream_t stream) {
  const dim3 blocks((N + TILE - 1) / TILE, (N + TILE - 1) / TILE);
  gram<<<blocks, 64, 0, stream>>>(A, G, N, K);
  return cudaGetLastError();
}
