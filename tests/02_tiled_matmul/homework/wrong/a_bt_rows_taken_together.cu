// expect: matmul_a_bt visible stands where A[i][k] belongs
// points: matmul_a_bt 5..11
// It sums rows 2 ty and 2 ty + 1, and stores them as rows ty and ty + 16.
#include "homework.cuh"

constexpr int T = 32;
__global__ void abt(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[T][T];
  __shared__ float Bs[T][T + 1];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  int row0 = blockIdx.y * T, col0 = blockIdx.x * T;
  float sum = 0.0f, sum2 = 0.0f;
  for (int k0 = 0; k0 < K; k0 += T) {
    for (int r = ty; r < T; r += 16) {
      As[r][tx] = row0 + r < M && k0 + tx < K ? A[(row0 + r) * K + k0 + tx] : 0.0f;
      Bs[r][tx] = col0 + r < N && k0 + tx < K ? B[(col0 + r) * K + k0 + tx] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < T; k++) {
      float b = Bs[tx][k];
      sum += As[2 * ty][k] * b;
      sum2 += As[2 * ty + 1][k] * b;
    }
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
  if (row + 16 < M && col < N) C[(row + 16) * N + col] = sum2;
}
cudaError_t launch_matmul_a_bt(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  abt<<<dim3((N + T - 1) / T, (M + T - 1) / T), dim3(T, 16), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
