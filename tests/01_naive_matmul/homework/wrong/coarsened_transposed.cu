// expect: matmul_coarsened visible C is stored column-major
// points: matmul_coarsened 5..48
// The result is stored by columns.
#include "homework.cuh"

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = (blockIdx.y * 8 + threadIdx.y) * 4;
  if (col >= N) return;
  float sum[4] = {};
  for (int k = 0; k < K; ++k) {
    const float b = B[k * N + col];
    for (int e = 0; e < 4; ++e)
      if (row + e < M) sum[e] += A[(row + e) * K + k] * b;
  }
  for (int e = 0; e < 4; ++e)
    if (row + e < M) C[row + e + col * M] = sum[e];
}

cudaError_t launch_matmul_coarsened(const float* A, const float* B, float* C, int M, int N, int K,
                                    cudaStream_t stream) {
  product<<<dim3((N + 31) / 32, (M + 31) / 32), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
