// expect: matmul_by_columns findings columns_default_stream.cu:17: other-stream: this launch goes to the default stream
// points: matmul_by_columns 5..85
// The stream is left out of the launch: right wherever `stream` is the default one, and nowhere else.
#include "homework.cuh"

__global__ void by_columns(const float* A, const float* B, float* C, int M, int N, int K) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= M || j >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[i + k * M] * B[k + j * K];
  C[i + j * M] = sum;
}

cudaError_t launch_matmul_by_columns(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t) {
  const dim3 blocks((M + 31) / 32, (N + 7) / 8);
  by_columns<<<blocks, dim3(32, 8)>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
