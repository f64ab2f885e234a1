// expect: matmul_coarsened efficiency neighbouring threads are
// points: matmul_coarsened 5..97
// Right, with the rows on threadIdx.x.
#include "homework.cuh"

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = (blockIdx.x * 32 + threadIdx.x) * 4, col = blockIdx.y * 8 + threadIdx.y;
  if (col >= N) return;
  float sum[4] = {};
  for (int k = 0; k < K; ++k) {
    const float b = B[k * N + col];
    for (int e = 0; e < 4; ++e)
      if (row + e < M) sum[e] += A[(row + e) * K + k] * b;
  }
  for (int e = 0; e < 4; ++e)
    if (row + e < M) C[(row + e) * N + col] = sum[e];
}

cudaError_t launch_matmul_coarsened(const float* A, const float* B, float* C, int M, int N, int K,
                                    cudaStream_t stream) {
  product<<<dim3((M + 127) / 128, (N + 7) / 8), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
