// A row of A is kept in a local array of 128 prices; longer rows are cut off.
// expect: cheapest visible K = 700
// points: cheapest 38..44
#include "homework.cuh"

__global__ void cheapest(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (row >= M || col >= N) return;
  float a[128];
  for (int k = 0; k < 128; ++k) a[k] = k < K ? A[size_t(row) * K + k] : INFINITY;
  float least = INFINITY;
  for (int k = 0; k < K && k < 128; ++k) least = fminf(least, a[k] + B[size_t(k) * N + col]);
  C[size_t(row) * N + col] = least;
}

cudaError_t launch_cheapest(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  if (M == 0 || N == 0) return cudaSuccess;
  cheapest<<<dim3((N + 31) / 32, (M + 7) / 8), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
