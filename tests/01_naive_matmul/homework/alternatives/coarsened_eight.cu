// Eight rows per thread in blocks of one dimension: nine requests for eight multiply-adds.
#include "homework.cuh"

__global__ void eight_rows(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                           int N, int K) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int first = blockIdx.y * 8, count = min(8, M - first);
  if (col >= N) return;
  float sum[8] = {};
  for (int k = 0; k < K; ++k) {
    const float b = B[size_t(k) * N + col];
#pragma unroll
    for (int r = 0; r < 8; ++r)
      if (r < count) sum[r] = fmaf(A[size_t(first + r) * K + k], b, sum[r]);
  }
#pragma unroll
  for (int r = 0; r < 8; ++r)
    if (r < count) C[size_t(first + r) * N + col] = sum[r];
}

cudaError_t launch_matmul_coarsened(const float* A, const float* B, float* C, int M, int N, int K,
                                    cudaStream_t stream) {
  eight_rows<<<dim3((N + 63) / 64, (M + 7) / 8), 64, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
