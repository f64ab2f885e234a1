// expect: matmul_by_columns visible the function returned
// points: matmul_by_columns 5..44
// 4,096 threads in a block.
#include "homework.cuh"

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int i = blockIdx.x * 64 + threadIdx.x, j = blockIdx.y * 64 + threadIdx.y;
  if (i >= M || j >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[i + k * M] * B[k + j * K];
  C[i + j * M] = sum;
}

cudaError_t launch_matmul_by_columns(const float* A, const float* B, float* C, int M, int N, int K,
                                     cudaStream_t stream) {
  product<<<dim3((M + 63) / 64, (N + 63) / 64), dim3(64, 64), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
