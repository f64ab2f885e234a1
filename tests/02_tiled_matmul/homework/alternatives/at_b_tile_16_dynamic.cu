// Tiles of 16 in dynamic shared memory, the grid the other way round, size_t indices.
#include "homework.cuh"

__global__ void product(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N,
                        int K, int T) {
  extern __shared__ float memory[];
  float* a = memory;
  float* b = memory + T * T;
  const int i = blockIdx.x * T + threadIdx.y, j = blockIdx.y * T + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < K; first += T) {
    const int k = first + threadIdx.y;
    const int column = blockIdx.x * T + threadIdx.x;
    a[threadIdx.y * T + threadIdx.x] = 0;
    b[threadIdx.y * T + threadIdx.x] = 0;
    if (k < K && column < M) a[threadIdx.y * T + threadIdx.x] = A[static_cast<size_t>(k) * M + column];
    if (k < K && j < N) b[threadIdx.y * T + threadIdx.x] = B[static_cast<size_t>(k) * N + j];
    __syncthreads();
    for (int step = 0; step < min(T, K - first); ++step)
      sum = fmaf(a[step * T + threadIdx.y], b[step * T + threadIdx.x], sum);
    __syncthreads();
  }
  if (i < M && j < N) C[static_cast<size_t>(i) * N + j] = sum;
}

cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  const int T = 16;
  product<<<dim3((M + T - 1) / T, (N + T - 1) / T), dim3(T, T), 2 * T * T * sizeof(float), stream>>>(A, B, C, M, N, K,
                                                                                                     T);
  return cudaPeekAtLastError();
}
