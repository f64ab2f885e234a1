// expect: matmul_by_columns visible all three matrices are taken to be row-major
// points: matmul_by_columns 5..44
// The lesson's kernel.
#include "homework.cuh"

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= M || j >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
  C[i * N + j] = sum;
}

cudaError_t launch_matmul_by_columns(const float* A, const float* B, float* C, int M, int N, int K,
                                     cudaStream_t stream) {
  product<<<dim3((N + 31) / 32, (M + 7) / 8), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
