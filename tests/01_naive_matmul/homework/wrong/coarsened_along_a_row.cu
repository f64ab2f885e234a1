// expect: matmul_coarsened efficiency sectors of loads
// points: matmul_coarsened 5..97
// Right and coalesced, with four elements of a row, a warp apart: few requests, but four of five fetch a whole line.
#include "homework.cuh"

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 128 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (row >= M) return;
  float sum[4] = {};
  for (int k = 0; k < K; ++k) {
    const float a = A[row * K + k];
    for (int e = 0; e < 4; ++e)
      if (col + 32 * e < N) sum[e] += a * B[k * N + col + 32 * e];
  }
  for (int e = 0; e < 4; ++e)
    if (col + 32 * e < N) C[row * N + col + 32 * e] = sum[e];
}

cudaError_t launch_matmul_coarsened(const float* A, const float* B, float* C, int M, int N, int K,
                                    cudaStream_t stream) {
  product<<<dim3((N + 127) / 128, (M + 7) / 8), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
