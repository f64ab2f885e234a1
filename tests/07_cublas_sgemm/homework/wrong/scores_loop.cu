// expect: head_scores efficiency calls of a library
// points: head_scores 5..60
// A call for each head.
#include "homework.cuh"

cublasStatus_t launch_head_scores(cublasHandle_t handle, const float* Q, const float* K, float* S, int heads,
                                  int queries, int keys, int d, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const float scale = 1.0f / sqrtf(static_cast<float>(d)), zero = 0.0f;
  for (int h = 0; h < heads; ++h) {
    status = cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, queries, d, &scale, K, d, Q + h * d, heads * d, &zero,
                         S + static_cast<size_t>(h) * queries * keys, keys);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}
