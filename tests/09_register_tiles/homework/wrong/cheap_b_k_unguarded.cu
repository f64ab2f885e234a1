// expect: cheapest findings out-of-bounds
// points: cheapest 37..46
// Fetches rows of B past the last.
#include "homework.cuh"

constexpr int TILE = 32, DEPTH = 8, STEP = 8;

__global__ void cheapest(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[DEPTH][TILE + 4];
  __shared__ float Bs[DEPTH][TILE];    
  const int t = threadIdx.x, tx = t % STEP, ty = t / STEP;
  const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  float least[4][4];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) least[i][j] = INFINITY;
  for (int k0 = 0; k0 < K; k0 += DEPTH) {
    for (int i = 0; i < 4; ++i) {
      const int row = row0 + ty + i * STEP, k = k0 + tx;
      As[tx][ty + i * STEP] = row < M && k < K ? A[size_t(row) * K + k] : INFINITY;
    }
    for (int k = t / TILE; k < DEPTH; k += 64 / TILE) {
      const int col = col0 + t % TILE;
      Bs[k][t % TILE] = col < N ? B[size_t(k0 + k) * N + col] : INFINITY;
    }
    __syncthreads();
    for (int k = 0; k < DEPTH; ++k) {
      float a[4], b[4];
      for (int i = 0; i < 4; ++i) a[i] = As[k][ty + i * STEP];
      for (int j = 0; j < 4; ++j) b[j] = Bs[k][tx + j * STEP];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) least[i][j] = fminf(least[i][j], a[i] + b[j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = row0 + ty + i * STEP, col = col0 + tx + j * STEP;
      if (row < M && col < N) C[size_t(row) * N + col] = least[i][j];
    }
}

cudaError_t launch_cheapest(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  if (M == 0 || N == 0) return cudaSuccess;
  const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  cheapest<<<blocks, 64, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
