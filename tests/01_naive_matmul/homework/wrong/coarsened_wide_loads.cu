// expect: matmul_coarsened findings misaligned
// points: matmul_coarsened 5..85
// 16 bytes of B at a time, also where N is no multiple of 4.
#include "homework.cuh"

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = (blockIdx.x * 32 + threadIdx.x) * 4, row = blockIdx.y * 8 + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum[4] = {};
  for (int k = 0; k < K; ++k) {
    const float a = A[row * K + k];
    const float4 b = *reinterpret_cast<const float4*>(B + k * N + col);
    sum[0] += a * b.x, sum[1] += a * b.y, sum[2] += a * b.z, sum[3] += a * b.w;
  }
  for (int e = 0; e < 4; ++e)
    if (col + e < N) C[row * N + col + e] = sum[e];
}

cudaError_t launch_matmul_coarsened(const float* A, const float* B, float* C, int M, int N, int K,
                                    cudaStream_t stream) {
  product<<<dim3((N + 127) / 128, (M + 7) / 8), dim3(32, 8), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
