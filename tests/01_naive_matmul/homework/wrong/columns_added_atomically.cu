// expect: matmul_by_columns efficiency atomic updates
// points: matmul_by_columns 5..97
// Right, but each sum is added to a zero, atomically, where it could be stored.
#include "homework.cuh"

__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[row + k * M] * B[k + col * K];
  C[row + col * M] = 0;
  atomicAdd(&C[row + col * M], sum);
}
cudaError_t launch_matmul_by_columns(const float* A, const float* B, float* C, int M, int N, int K,
                                     cudaStream_t stream) {
  dim3 block(32, 8);
  dim3 grid((M + 31) / 32, (N + 7) / 8);
  k<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
