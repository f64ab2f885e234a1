// The product first, with beta = 0; the bias is added to it by a kernel.
#include "homework.cuh"

__global__ void add_bias(const float* bias, float* Y, int rows, int out) {
  const size_t words = static_cast<size_t>(rows) * out, step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += step) Y[i] += bias[i % out];
}

cublasStatus_t launch_linear(cublasHandle_t handle, const float* X, const float* W, const float* bias, float* Y,
                             int rows, int in, int out, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const float one = 1.0f, zero = 0.0f;
  status = cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, out, rows, in, &one, W, in, X, in, &zero, Y, out);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  add_bias<<<32, 128, 0, stream>>>(bias, Y, rows, out);
  return cudaGetLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
