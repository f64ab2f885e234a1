// expect: head_scores visible in Q the heads of a query lie side by side
// points: head_scores 5..44
#include "homework.cuh"

cublasStatus_t launch_head_scores(cublasHandle_t handle, const float* Q, const float* K, float* S, int heads,
                                  int queries, int keys, int d, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const float alpha = 1.0f / sqrtf(static_cast<float>(d)), beta = 0.0f;
  return cublasSgemmStridedBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, queries, d, &alpha, K, d, 0, Q, d,
                                   static_cast<long long>(queries) * d, &beta, S, keys,
                                   static_cast<long long>(queries) * keys, heads);
}
