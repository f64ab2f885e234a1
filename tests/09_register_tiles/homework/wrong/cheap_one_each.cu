// expect: cheapest efficiency wavefronts of shared memory per FLOP
// points: cheapest 55..60
// Right, but one trip per thread.
#include "homework.cuh"

__global__ void cheapest(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[16][17], Bs[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float least = INFINITY;
  for (int k0 = 0; k0 < K; k0 += 16) {
    As[ty][tx] = row < M && k0 + tx < K ? A[size_t(row) * K + k0 + tx] : INFINITY;
    Bs[ty][tx] = k0 + ty < K && col < N ? B[size_t(k0 + ty) * N + col] : INFINITY;
    __syncthreads();
    for (int k = 0; k < 16; ++k) least = fminf(least, As[ty][k] + Bs[k][tx]);
    __syncthreads();
  }
  if (row < M && col < N) C[size_t(row) * N + col] = least;
}

cudaError_t launch_cheapest(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  if (M == 0 || N == 0) return cudaSuccess;
  cheapest<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
