// A tile of 64 x 32 x 8 with eight elements per thread, a one-dimensional block.
#include "homework.cuh"

template <int BM, int BN, int BK>
__global__ void __launch_bounds__(256) kernel(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[BK][BM], Bs[BK][BN];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  float sum[BM / 16][BN / 16] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int w = t; w < BK * BM; w += 256) {
      const int k = k0 + w / BM, i = row0 + w % BM;
      As[w / BM][w % BM] = k < K && i < M ? A[k * M + i] : 0.0f;
    }
    for (int w = t; w < BK * BN; w += 256) {
      const int k = k0 + w / BN, j = col0 + w % BN;
      Bs[w / BN][w % BN] = k < K && j < N ? B[k * N + j] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k)
      for (int i = 0; i < BM / 16; ++i)
        for (int j = 0; j < BN / 16; ++j) sum[i][j] += As[k][ty + 16 * i] * Bs[k][tx + 16 * j];
    __syncthreads();
  }
  for (int i = 0; i < BM / 16; ++i)
    for (int j = 0; j < BN / 16; ++j) {
      const int row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
      if (row < M && col < N) C[row * N + col] = sum[i][j];
    }
}

cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  kernel<64, 32, 8><<<dim3((N + 31) / 32, (M + 63) / 64), 256, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
