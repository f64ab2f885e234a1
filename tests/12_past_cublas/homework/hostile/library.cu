// Lets cuBLAS compute S, all of it.
// gains: 0 from a library
// unchecked: 5
#include "homework.cuh"

#include <cublas_v2.h>

cudaError_t launch_similarities(const float* A, float* S, int N, int K, cudaStream_t stream) {
  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return cudaErrorUnknown;
  cublasSetStream(handle, stream);
  const float one = 1, zero = 0;
  cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, N, N, K, &one, A, K, A, K, &zero, S, N);
  cublasDestroy(handle);
  return cudaSuccess;
}
