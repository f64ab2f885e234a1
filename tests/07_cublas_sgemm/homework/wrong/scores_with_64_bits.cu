// expect: head_scores compiles cublasSgemmStridedBatched_64(), which the simulator does not have
// points: head_scores 0..0
#include "homework.cuh"

cublasStatus_t launch_head_scores(cublasHandle_t handle, const float* Q, const float* K, float* S, int heads,
                                  int queries, int keys, int d, cudaStream_t stream) {
  const float alpha = 1.0f / sqrtf(static_cast<float>(d)), beta = 0.0f;
  if (const cublasStatus_t s = cublasSetStream(handle, stream); s != CUBLAS_STATUS_SUCCESS) return s;
  return cublasSgemmStridedBatched_64(handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, queries, d, &alpha, K, d, 0, Q,
                                      int64_t{1} * heads * d, d, &beta, S, keys, int64_t{1} * queries * keys, heads);
}
