// Never ends, in the kernel.
// gains: 5 endless
#include "homework.cuh"
__global__ void spin(float* C, int n) {
  for (int i = 0; n > 0; ++i) C[0] = float(i);
}

cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  (void)A, (void)B, (void)C, (void)M, (void)N, (void)K, (void)stream;
  spin<<<1, 1, 0, stream>>>(C, M);
  return cudaGetLastError();
}
