// expect: matmul_coarsened findings out-of-bounds
// points: matmul_coarsened 5..85
// Only the first row is checked.
#include "homework.cuh"

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = (blockIdx.y * 8 + threadIdx.y) * 4;
  if (row >= M || col >= N) return;
  float sum[4] = {};
  for (int k = 0; k < K; ++k)
    for (int e = 0; e < 4; ++e) sum[e] += A[(row + e) * K + k] * B[k * N + col];
  for (int e = 0; e < 4; ++e) C[(row + e) * N + col] = sum[e];
}

cudaError_t launch_matmul_coarsened(const float* A, const float* B, float* C, int M, int N, int K,
                                    cudaStream_t stream) {
  product<<<dim3((N + 31) / 32, (M + 31) / 32), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
