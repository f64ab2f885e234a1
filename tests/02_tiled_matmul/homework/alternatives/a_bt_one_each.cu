// One element per thread: the words that it multiplies lie side by side in both tiles, and nvcc loads four at a time.
#include "homework.cuh"

__global__ void matmul_a_bt(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[32][32], Bs[32][33];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 32) {
    As[ty][tx] = row0 + ty < M && k0 + tx < K ? A[(row0 + ty) * K + k0 + tx] : 0.0f;
    Bs[ty][tx] = col0 + ty < N && k0 + tx < K ? B[(col0 + ty) * K + k0 + tx] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += As[ty][k] * Bs[tx][k];
    __syncthreads();
  }
  if (row0 + ty < M && col0 + tx < N) C[(row0 + ty) * N + col0 + tx] = sum;
}

cudaError_t launch_matmul_a_bt(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  matmul_a_bt<<<dim3((N + 31) / 32, (M + 31) / 32), dim3(32, 32), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
