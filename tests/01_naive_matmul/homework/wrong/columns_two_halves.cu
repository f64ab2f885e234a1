// expect: matmul_by_columns findings race-global
// points: matmul_by_columns 5..85
// Two blocks add their halves of the sum to the same word, with nothing that keeps them apart.
#include "homework.cuh"

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
  if (i >= M || j >= N) return;
  const int first = blockIdx.z == 0 ? 0 : K / 2, last = blockIdx.z == 0 ? K / 2 : K;
  float sum = 0.0f;
  for (int k = first; k < last; ++k) sum += A[i + k * M] * B[k + j * K];
  C[i + j * M] += sum;
}

cudaError_t launch_matmul_by_columns(const float* A, const float* B, float* C, int M, int N, int K,
                                     cudaStream_t stream) {
  cudaMemsetAsync(C, 0, sizeof(float) * M * N, stream);
  product<<<dim3((M + 31) / 32, (N + 7) / 8, 2), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
