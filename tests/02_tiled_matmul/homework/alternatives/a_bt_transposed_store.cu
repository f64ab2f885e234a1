// A tile of 64 x 64 x 16, sixteen elements per thread, B turned round on the way into shared memory.
#include "homework.cuh"

// Bs is turned round while it is stored: rows of 33 words, so that the stores do not conflict either.
__global__ void a_bt(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[64][16], Bs[16][65];
  const int tx = threadIdx.x % 32, ty = threadIdx.x / 32;  // 32 x 8
  const int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
  float sum[8][2] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int w = threadIdx.x; w < 64 * 16; w += 256) {
      const int i = w / 16, k = w % 16;
      As[i][k] = row0 + i < M && k0 + k < K ? A[(row0 + i) * K + k0 + k] : 0.0f;
      Bs[k][i] = col0 + i < N && k0 + k < K ? B[(col0 + i) * K + k0 + k] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      const float b[2] = {Bs[k][tx], Bs[k][tx + 32]};
      for (int i = 0; i < 8; ++i) {
        const float a = As[ty + 8 * i][k];
        sum[i][0] += a * b[0];
        sum[i][1] += a * b[1];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 2; ++j)
      if (row0 + ty + 8 * i < M && col0 + tx + 32 * j < N) C[(row0 + ty + 8 * i) * N + col0 + tx + 32 * j] = sum[i][j];
}

cudaError_t launch_matmul_a_bt(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  a_bt<<<dim3((N + 63) / 64, (M + 63) / 64), 256, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
