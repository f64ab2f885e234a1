// expect: matmul_by_columns efficiency sectors of stores
// points: matmul_by_columns 5..97
// Right, but the sum is kept in global memory: C is fetched and stored at each k.
#include "homework.cuh"

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
  if (i >= M || j >= N) return;
  C[i + j * M] = 0.0f;
  for (int k = 0; k < K; ++k) C[i + j * M] += A[i + k * M] * B[k + j * K];
}

cudaError_t launch_matmul_by_columns(const float* A, const float* B, float* C, int M, int N, int K,
                                     cudaStream_t stream) {
  product<<<dim3((M + 31) / 32, (N + 7) / 8), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
