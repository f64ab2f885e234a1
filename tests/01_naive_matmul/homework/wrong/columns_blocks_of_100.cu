// expect: matmul_by_columns efficiency requests of loads
// points: matmul_by_columns 5..97
// Right, but 100 threads are three warps and four threads of a fourth, and no warp has a whole line.
#include "homework.cuh"

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int i = blockIdx.x * 10 + threadIdx.x, j = blockIdx.y * 10 + threadIdx.y;
  if (i >= M || j >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[i + k * M] * B[k + j * K];
  C[i + j * M] = sum;
}

cudaError_t launch_matmul_by_columns(const float* A, const float* B, float* C, int M, int N, int K,
                                     cudaStream_t stream) {
  product<<<dim3((M + 9) / 10, (N + 9) / 10), dim3(10, 10), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
