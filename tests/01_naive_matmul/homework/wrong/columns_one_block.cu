// Right, with neighbours in a column, and one block for all of C.
// expect: matmul_by_columns efficiency few-blocks
// points: matmul_by_columns 5..60
#include "homework.cuh"

__global__ void matmul_by_columns(const float* A, const float* B, float* C, int M, int N, int K) {
  for (int col = threadIdx.y; col < N; col += blockDim.y)
    for (int row = threadIdx.x; row < M; row += blockDim.x) {
      float sum = 0.0f;
      for (int k = 0; k < K; ++k) sum += A[row + size_t(k) * M] * B[k + size_t(col) * K];
      C[row + size_t(col) * M] = sum;
    }
}

cudaError_t launch_matmul_by_columns(const float* A, const float* B, float* C, int M, int N, int K,
                                     cudaStream_t stream) {
  matmul_by_columns<<<1, dim3(32, 32), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
