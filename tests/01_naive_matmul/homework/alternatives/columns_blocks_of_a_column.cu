// Blocks of 128 threads in one column of C; pointers to the column of B and the row of A.
#include "homework.cuh"

__global__ void one_column(const float* A, const float* B, float* C, int M, int K) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const int j = blockIdx.y;
  if (i < M) {
    const float *a = A + i, *b = B + size_t(j) * K;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k, a += M) sum = fmaf(*a, b[k], sum);
    C[i + size_t(j) * M] = sum;
  }
}

cudaError_t launch_matmul_by_columns(const float* A, const float* B, float* C, int M, int N, int K,
                                     cudaStream_t stream) {
  one_column<<<dim3((M + 127) / 128, N), 128, 0, stream>>>(A, B, C, M, K);
  return cudaGetLastError();
}
