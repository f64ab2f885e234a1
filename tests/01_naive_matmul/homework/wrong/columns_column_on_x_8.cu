// expect: matmul_by_columns efficiency sectors of loads
// points: matmul_by_columns 5..60
// The same in blocks of 8 x 8, where it hurts less.
#include "homework.cuh"

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int j = blockIdx.x * 8 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= M || j >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[i + k * M] * B[k + j * K];
  C[i + j * M] = sum;
}

cudaError_t launch_matmul_by_columns(const float* A, const float* B, float* C, int M, int N, int K,
                                     cudaStream_t stream) {
  product<<<dim3((N + 7) / 8, (M + 7) / 8), dim3(8, 8), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
