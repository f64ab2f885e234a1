// expect: head_scores visible all queries of a head come first
// points: head_scores 5..44
#include "homework.cuh"

cublasStatus_t launch_head_scores(cublasHandle_t handle, const float* Q, const float* K, float* S, int heads,
                                  int queries, int keys, int d, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const float scale = 1.0f / sqrtf(static_cast<float>(d)), zero = 0.0f;
  return cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, queries * heads, d, &scale, K, d, Q, d, &zero, S, keys);
}
