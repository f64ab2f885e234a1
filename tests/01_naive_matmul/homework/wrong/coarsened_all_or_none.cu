// expect: matmul_coarsened visible the last rows belong to threads that do not have four
// points: matmul_coarsened 5..48
// Threads that do not have four elements do nothing.
#include "homework.cuh"

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = (blockIdx.y * 8 + threadIdx.y) * 4;
  if (row + 3 >= M || col >= N) return;
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
  product<<<dim3((N + 31) / 32, (M + 31) / 32), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
