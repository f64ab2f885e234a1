// expect: head_scores efficiency sectors of loads and stores
// points: head_scores 5..84
// The heads of Q are copied one after the other first.
#include "homework.cuh"

__global__ void gather(const float* Q, float* apart, int heads, int queries, int d) {
  const int c = blockIdx.x * 32 + threadIdx.x, q = blockIdx.y, h = blockIdx.z;
  if (c < d) apart[(static_cast<size_t>(h) * queries + q) * d + c] = Q[(static_cast<size_t>(q) * heads + h) * d + c];
}

cublasStatus_t launch_head_scores(cublasHandle_t handle, const float* Q, const float* K, float* S, int heads,
                                  int queries, int keys, int d, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  float* apart = nullptr;
  const size_t words = static_cast<size_t>(heads) * queries * d;
  if (cudaMallocAsync(&apart, words * sizeof(float), stream) != cudaSuccess) return CUBLAS_STATUS_ALLOC_FAILED;
  gather<<<dim3((d + 31) / 32, queries, heads), 32, 0, stream>>>(Q, apart, heads, queries, d);
  const float scale = 1.0f / sqrtf(static_cast<float>(d)), zero = 0.0f;
  status = cublasSgemmStridedBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, queries, d, &scale, K, d, 0, apart, d,
                                     static_cast<long long>(queries) * d, &zero, S, keys,
                                     static_cast<long long>(queries) * keys, heads);
  cudaFreeAsync(apart, stream);
  return status;
}
