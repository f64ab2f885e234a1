// Tiles of 64 x 64, with 4 x 4 elements for each thread, k by k in steps of 16.
#include "homework.cuh"

constexpr int TILE = 64, DEPTH = 16;

__global__ void similarities(const float* A, float* S, int N, int K) {
  __shared__ float Is[TILE][DEPTH + 1], Js[TILE][DEPTH + 1];
  __shared__ float turned[TILE][TILE + 1];
  int tile_row = 0, tile_col = blockIdx.x;
  while (tile_col > tile_row) tile_col -= ++tile_row;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row0 = tile_row * TILE, col0 = tile_col * TILE;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += DEPTH) {
    const int k = k0 + tx;
    for (int i = ty; i < TILE; i += 16) {
      Is[i][tx] = row0 + i < N && k < K ? A[size_t(row0 + i) * K + k] : 0.0f;
      Js[i][tx] = col0 + i < N && k < K ? A[size_t(col0 + i) * K + k] : 0.0f;
    }
    __syncthreads();
    for (int step = 0; step < DEPTH; ++step)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += Is[ty + 16 * i][step] * Js[tx + 16 * j][step];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
      if (row < N && col < N) S[size_t(row) * N + col] = sum[i][j];
      turned[tx + 16 * j][ty + 16 * i] = sum[i][j];
    }
  __syncthreads();
  if (tile_row == tile_col) return;
  for (int j = threadIdx.x / 64; j < TILE; j += 4) {
    const int row = col0 + j, col = row0 + threadIdx.x % 64;
    if (row < N && col < N) S[size_t(row) * N + col] = turned[j][threadIdx.x % 64];
  }
}

cudaError_t launch_similarities(const float* A, float* S, int N, int K, cudaStream_t stream) {
  const int tiles = (N + TILE - 1) / TILE;
  similarities<<<tiles*(tiles + 1) / 2, 256, 0, stream>>>(A, S, N, K);
  return cudaGetLastError();
}
