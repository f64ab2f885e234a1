// Right with tiles, and memory that nobody needs is allocated in each call, and never freed.
// expect: matmul_at_b findings leak
// points: matmul_at_b 80..85
#include "homework.cuh"

__global__ void matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[32][32], Bs[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 32) {
    As[ty][tx] = k0 + ty < K && row0 + tx < M ? A[size_t(k0 + ty) * M + row0 + tx] : 0.0f;
    Bs[ty][tx] = k0 + ty < K && col0 + tx < N ? B[size_t(k0 + ty) * N + col0 + tx] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += As[k][ty] * Bs[k][tx];
    __syncthreads();
  }
  if (row0 + ty < M && col0 + tx < N) C[size_t(row0 + ty) * N + col0 + tx] = sum;
}

cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  float* scratch = nullptr;
  if (const cudaError_t error = cudaMalloc(&scratch, sizeof(float) * 1024); error != cudaSuccess) return error;
  matmul_at_b<<<dim3((N + 31) / 32, (M + 31) / 32), dim3(32, 32), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
