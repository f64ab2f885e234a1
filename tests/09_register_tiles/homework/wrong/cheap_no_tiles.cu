// expect: cheapest efficiency requests of loads
// points: cheapest 55..60
// Right, and 4 x 4 trips per thread, but all words come from global memory each time.
#include "homework.cuh"

__global__ void cheapest(const float* A, const float* B, float* C, int M, int N, int K) {
  const int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row0 = blockIdx.y * 32 + ty, col0 = blockIdx.x * 32 + tx;
  float least[4][4];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) least[i][j] = INFINITY;
  for (int k = 0; k < K; ++k) {
    float a[4], b[4];
    for (int i = 0; i < 4; ++i) a[i] = row0 + 8 * i < M ? A[size_t(row0 + 8 * i) * K + k] : INFINITY;
    for (int j = 0; j < 4; ++j) b[j] = col0 + 8 * j < N ? B[size_t(k) * N + col0 + 8 * j] : INFINITY;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) least[i][j] = fminf(least[i][j], a[i] + b[j]);
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (row0 + 8 * i < M && col0 + 8 * j < N) C[size_t(row0 + 8 * i) * N + col0 + 8 * j] = least[i][j];
}

cudaError_t launch_cheapest(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  if (M == 0 || N == 0) return cudaSuccess;
  cheapest<<<dim3((N + 31) / 32, (M + 31) / 32), 64, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
