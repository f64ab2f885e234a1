// expect: matmul_at_b visible 10 of 11 shapes right
// points: matmul_at_b 38..44
// What lies beyond k = 112 is not in the sums.
#include "homework.cuh"

__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[16][16], Bs[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, i0 = blockIdx.y * 16, j0 = blockIdx.x * 16;
  float sum = 0.0f;
  for (signed char k0 = 0; k0 < K && k0 < 112; k0 += 16) {
    As[ty][tx] = k0 + ty < K && i0 + tx < M ? A[(k0 + ty) * M + i0 + tx] : 0.0f;
    Bs[ty][tx] = k0 + ty < K && j0 + tx < N ? B[(k0 + ty) * N + j0 + tx] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += As[k][ty] * Bs[k][tx];
    __syncthreads();
  }
  if (i0 + ty < M && j0 + tx < N) C[(i0 + ty) * N + j0 + tx] = sum;
}
cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  k<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
