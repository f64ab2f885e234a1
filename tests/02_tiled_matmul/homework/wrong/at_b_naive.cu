// Right, without shared memory.
// expect: matmul_at_b efficiency requests of loads
// points: matmul_at_b 55..60
#include "homework.cuh"

__global__ void matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[k * M + row] * B[k * N + col];
  C[row * N + col] = sum;
}

cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  matmul_at_b<<<dim3((N + 31) / 32, (M + 7) / 8), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
