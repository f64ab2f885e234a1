// Dereferences nothing.
// gains: 5 host-fault: host code follows a null pointer
#include "homework.cuh"

cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  (void)A, (void)B, (void)C, (void)M, (void)N, (void)K, (void)stream;
  *reinterpret_cast<volatile int*>(16) = 1;
  return cudaSuccess;
}
