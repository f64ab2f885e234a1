// Never ends, on the host.
// gains: 5 endless
#include "homework.cuh"

cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  (void)A, (void)B, (void)C, (void)M, (void)N, (void)K, (void)stream;
  for (volatile int i = 0;; i = i + 1) {
  }
}
