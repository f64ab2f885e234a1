// expect: head_scores visible another handle than the one that was given
// points: head_scores 5..44
// A handle for the call.
#include "homework.cuh"

cublasStatus_t launch_head_scores(cublasHandle_t handle, const float* Q, const float* K, float* S, int heads,
                                  int queries, int keys, int d, cudaStream_t stream) {
  cublasHandle_t own;
  cublasStatus_t status = cublasCreate(&own);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  cublasSetStream(own, stream);
  const float alpha = 1.0f / sqrtf(static_cast<float>(d)), beta = 0.0f;
  status = cublasSgemmStridedBatched(own, CUBLAS_OP_T, CUBLAS_OP_N, keys, queries, d, &alpha, K, d, 0, Q, heads * d, d,
                                     &beta, S, keys, static_cast<long long>(queries) * keys, heads);
  cublasDestroy(own);
  return status;
}
