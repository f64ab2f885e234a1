// Tiles of 32 x 32 in shared memory, four rows per thread.
#include "homework.cuh"

__global__ void tiles(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[32][32], Bs[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.y * 32, col = blockIdx.x * 32 + tx;
  float sum[4] = {};
  for (int k0 = 0; k0 < K; k0 += 32) {
    for (int i = ty; i < 32; i += 8) {
      As[i][tx] = row0 + i < M && k0 + tx < K ? A[(row0 + i) * K + k0 + tx] : 0.0f;
      Bs[i][tx] = k0 + i < K && col < N ? B[(k0 + i) * N + col] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < 32; ++k) {
      const float b = Bs[k][tx];
      for (int e = 0; e < 4; ++e) sum[e] += As[ty + 8 * e][k] * b;
    }
    __syncthreads();
  }
  for (int e = 0; e < 4; ++e)
    if (row0 + ty + 8 * e < M && col < N) C[(row0 + ty + 8 * e) * N + col] = sum[e];
}

cudaError_t launch_matmul_coarsened(const float* A, const float* B, float* C, int M, int N, int K,
                                    cudaStream_t stream) {
  tiles<<<dim3((N + 31) / 32, (M + 31) / 32), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
