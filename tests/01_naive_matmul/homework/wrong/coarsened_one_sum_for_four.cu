// expect: matmul_coarsened visible hold the sum of the four
// points: matmul_coarsened 5..48
// One variable for the four elements of a thread.
#include "homework.cuh"

__global__ void matmul4(const float* A, const float* B, float* C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; k++) {
    float b = B[k * N + col];
    for (int j = 0; j < 4; j++)
      if (row + j < M) sum += A[(row + j) * K + k] * b;
  }
  for (int j = 0; j < 4; j++)
    if (row + j < M) C[(row + j) * N + col] = sum;
}
cudaError_t launch_matmul_coarsened(const float* A, const float* B, float* C, int M, int N, int K,
                                    cudaStream_t stream) {
  dim3 block(16, 16);
  dim3 grid((N + 15) / 16, (M + 63) / 64);
  matmul4<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
