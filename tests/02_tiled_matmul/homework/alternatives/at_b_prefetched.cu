// Two pairs of tiles in turns, one barrier per tile.
#include "homework.cuh"

constexpr int T = 32;

// Tiles in turns, one barrier per tile.
__global__ void at_b(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[2][T][T], b[2][T][T];
  const int x = threadIdx.x, y = threadIdx.y, i0 = blockIdx.y * T, j0 = blockIdx.x * T;
  float sum = 0.0f;
  int turn = 0;
  for (int k0 = 0; k0 < K; k0 += T, turn ^= 1) {
    const bool in = k0 + y < K;
    a[turn][y][x] = in && i0 + x < M ? A[(k0 + y) * M + i0 + x] : 0.0f;
    b[turn][y][x] = in && j0 + x < N ? B[(k0 + y) * N + j0 + x] : 0.0f;
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += a[turn][k][y] * b[turn][k][x];
  }
  if (i0 + y < M && j0 + x < N) C[(i0 + y) * N + j0 + x] = sum;
}

cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  at_b<<<dim3((N + T - 1) / T, (M + T - 1) / T), dim3(T, T), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
