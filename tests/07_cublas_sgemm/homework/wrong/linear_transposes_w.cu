// expect: linear efficiency sectors of loads and stores
// points: linear 5..90
// W is transposed by a kernel first, word by word.
#include "homework.cuh"

__global__ void fill_rows(const float* bias, float* Y, int rows, int out) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < rows && j < out) Y[i * out + j] = bias[j];
}

__global__ void transpose(const float* W, float* turned, int in, int out) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (j < out && k < in) turned[k * out + j] = W[j * in + k];
}

cublasStatus_t launch_linear(cublasHandle_t handle, const float* X, const float* W, const float* bias, float* Y,
                             int rows, int in, int out, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  fill_rows<<<dim3((out + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(bias, Y, rows, out);
  if (cudaGetLastError() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  float* turned = nullptr;
  if (cudaMalloc(&turned, sizeof(float) * in * out) != cudaSuccess) return CUBLAS_STATUS_ALLOC_FAILED;
  transpose<<<dim3((in + 31) / 32, (out + 7) / 8), dim3(32, 8), 0, stream>>>(W, turned, in, out);
  const float one = 1.0f;
  status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, out, rows, in, &one, turned, out, X, in, &one, Y, out);
  cudaFree(turned);
  return status;
}
