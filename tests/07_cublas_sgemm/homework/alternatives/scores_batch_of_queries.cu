// The batch counts queries: a query's heads are the rows of one small matrix.
#include "homework.cuh"
cublasStatus_t launch_head_scores(cublasHandle_t handle, const float* Q, const float* K, float* S, int heads,
                                  int queries, int keys, int d, cudaStream_t stream) {
  cublasStatus_t st = cublasSetStream(handle, stream);
  if (st != CUBLAS_STATUS_SUCCESS) return st;
  const float alpha = 1.0f / sqrtf(float(d)), beta = 0.0f;
  return cublasSgemmStridedBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, heads, d, &alpha, K, d, 0, Q, d,
                                   (long long)heads * d, &beta, S, keys * queries, keys, queries);
}
