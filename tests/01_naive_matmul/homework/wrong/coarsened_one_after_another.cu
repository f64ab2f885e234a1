// expect: matmul_coarsened efficiency requests of loads
// points: matmul_coarsened 5..97
// Right, but the four elements are computed one after another: nothing is used twice.
#include "homework.cuh"

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = (blockIdx.y * 8 + threadIdx.y) * 4;
  if (col >= N) return;
  for (int e = 0; e < 4; ++e) {
    if (row + e >= M) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[(row + e) * K + k] * B[k * N + col];
    C[(row + e) * N + col] = sum;
  }
}

cudaError_t launch_matmul_coarsened(const float* A, const float* B, float* C, int M, int N, int K,
                                    cudaStream_t stream) {
  product<<<dim3((N + 31) / 32, (M + 31) / 32), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
