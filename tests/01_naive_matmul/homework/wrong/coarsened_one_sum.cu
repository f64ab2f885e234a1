// expect: matmul_coarsened visible the four sums of a thread run into one another
// points: matmul_coarsened 5..48
// The sum goes on from one element to the next.
#include "homework.cuh"

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = (blockIdx.y * 8 + threadIdx.y) * 4;
  if (col >= N) return;
  float sum = 0.0f;
  for (int e = 0; e < 4; ++e) {
    if (row + e >= M) return;
    for (int k = 0; k < K; ++k) sum += A[(row + e) * K + k] * B[k * N + col];
    C[(row + e) * N + col] = sum;
  }
}

cudaError_t launch_matmul_coarsened(const float* A, const float* B, float* C, int M, int N, int K,
                                    cudaStream_t stream) {
  product<<<dim3((N + 31) / 32, (M + 31) / 32), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
