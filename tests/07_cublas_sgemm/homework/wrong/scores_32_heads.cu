// expect: head_scores visible heads = 70
// points: head_scores 5..44
// A warp writes the list of pointers, one for each lane.
#include <memory>
#include "homework.cuh"
__global__ void lists(const float** a, const float** b, float** c, const float* K, const float* Q, float* S, int heads,
                      int d, size_t each) {
  int h = threadIdx.x;
  if (h < heads) {
    a[h] = K;
    b[h] = Q + h * d;
    c[h] = S + h * each;
  }
}
cublasStatus_t launch_head_scores(cublasHandle_t handle, const float* Q, const float* K, float* S, int heads,
                                  int queries, int keys, int d, cudaStream_t stream) {
  cublasStatus_t st = cublasSetStream(handle, stream);
  if (st != CUBLAS_STATUS_SUCCESS) return st;
  void* mem = nullptr;
  if (cudaMallocAsync(&mem, 3 * heads * sizeof(void*), stream) != cudaSuccess) return CUBLAS_STATUS_ALLOC_FAILED;
  auto a = (const float**)mem;
  auto b = a + heads;
  auto c = (float**)(b + heads);
  lists<<<1, 32, 0, stream>>>(a, b, c, K, Q, S, heads, d, (size_t)queries * keys);
  st = cudaGetLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
  const float alpha = 1 / sqrtf(d), beta = 0;
  if (st == CUBLAS_STATUS_SUCCESS)
    st = cublasSgemmBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, queries, d, &alpha, a, d, b, heads * d, &beta, c,
                            keys, heads);
  cudaFreeAsync(mem, stream);
  return st;
}
