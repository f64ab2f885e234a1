// expect: linear efficiency calls of a library
// points: linear 5..90
#include "homework.cuh"

__global__ void fill_rows(const float* bias, float* Y, int rows, int out) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < rows && j < out) Y[i * out + j] = bias[j];
}

cublasStatus_t launch_linear(cublasHandle_t handle, const float* X, const float* W, const float* bias, float* Y,
                             int rows, int in, int out, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  fill_rows<<<dim3((out + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(bias, Y, rows, out);
  if (cudaGetLastError() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  const float one = 1.0f;
  for (int i = 0; i < rows; ++i) {
    status = cublasSgemv(handle, CUBLAS_OP_T, in, out, &one, W, in, X + i * in, 1, &one, Y + i * out, 1);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}
