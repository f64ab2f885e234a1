// cublasSgemmBatched, with lists of pointers that a kernel writes.
#include "homework.cuh"

__global__ void write_lists(const float* Q, const float* K, float* S, const float** inputs, float** outputs, int heads,
                            int queries, int keys, int d) {
  const int h = blockIdx.x * blockDim.x + threadIdx.x;
  if (h >= heads) return;
  inputs[h] = K;
  inputs[heads + h] = Q + h * d;
  outputs[h] = S + static_cast<size_t>(h) * queries * keys;
}

cublasStatus_t launch_head_scores(cublasHandle_t handle, const float* Q, const float* K, float* S, int heads,
                                  int queries, int keys, int d, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const float** inputs = nullptr;
  float** outputs = nullptr;
  if (cudaMallocAsync(&inputs, 2 * heads * sizeof(float*), stream) != cudaSuccess) return CUBLAS_STATUS_ALLOC_FAILED;
  if (cudaMallocAsync(&outputs, heads * sizeof(float*), stream) != cudaSuccess) return CUBLAS_STATUS_ALLOC_FAILED;
  write_lists<<<(heads + 31) / 32, 32, 0, stream>>>(Q, K, S, inputs, outputs, heads, queries, keys, d);
  if (cudaGetLastError() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  const float scale = 1.0f / sqrtf(static_cast<float>(d)), zero = 0.0f;
  status = cublasSgemmBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, queries, d, &scale, inputs, d, inputs + heads,
                              heads * d, &zero, outputs, keys, heads);
  cudaFreeAsync(inputs, stream);
  cudaFreeAsync(outputs, stream);
  return status;
}
