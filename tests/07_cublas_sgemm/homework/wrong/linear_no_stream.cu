// expect: linear visible another stream than the one that was given
// points: linear 5..58
#include "homework.cuh"

__global__ void fill_rows(const float* bias, float* Y, int rows, int out) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < rows && j < out) Y[i * out + j] = bias[j];
}

cublasStatus_t launch_linear(cublasHandle_t handle, const float* X, const float* W, const float* bias, float* Y,
                             int rows, int in, int out, cudaStream_t stream) {
  fill_rows<<<dim3((out + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(bias, Y, rows, out);
  if (cudaGetLastError() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  const float one = 1.0f;
  return cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, out, rows, in, &one, W, in, X, in, &one, Y, out);
}
