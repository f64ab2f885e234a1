// expect: matmul_at_b visible counts only where i0 + kk < M
// points: matmul_at_b 14..23
// The guard asks the row of C, but the word is that of another column of A.
#include "homework.cuh"

constexpr int T = 16;
__global__ void atb(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[T][T];
  __shared__ float Bs[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  int row0 = blockIdx.y * T, col0 = blockIdx.x * T;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += T) {
    As[ty][tx] = row < M && k0 + ty < K ? A[(k0 + ty) * M + row0 + tx] : 0.0f;
    Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < T; k++) sum += As[k][ty] * Bs[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  atb<<<dim3((N + T - 1) / T, (M + T - 1) / T), dim3(T, T), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
