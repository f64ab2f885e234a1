// expect: head_scores visible stored by columns, a row for each key
// points: head_scores 5..44
#include "homework.cuh"

cublasStatus_t launch_head_scores(cublasHandle_t handle, const float* Q, const float* K, float* S, int heads,
                                  int queries, int keys, int d, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const float scale = 1.0f / sqrtf(static_cast<float>(d)), zero = 0.0f;
  return cublasSgemmStridedBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, queries, keys, d, &scale, Q, heads * d, d, K, d, 0,
                                   &zero, S, queries, static_cast<long long>(queries) * keys, heads);
}
