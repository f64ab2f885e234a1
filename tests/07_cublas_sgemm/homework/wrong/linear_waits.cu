// expect: linear visible waited for its work
// points: linear 5..58
// Waits until all is done.
#include "homework.cuh"
__global__ void add_bias(const float* bias, float* Y, int out) {
  float* y = Y + (size_t)blockIdx.x * out;
  for (int j = threadIdx.x; j < out; j += blockDim.x) y[j] += bias[j];
}
cublasStatus_t launch_linear(cublasHandle_t handle, const float* X, const float* W, const float* bias, float* Y,
                             int rows, int in, int out, cudaStream_t stream) {
  cublasStatus_t st = cublasSetStream(handle, stream);
  if (st) return st;
  float alpha = 1.f, beta = 0.f;
  st = cublasSgemm(handle, CUBLAS_OP_C, CUBLAS_OP_N, out, rows, in, &alpha, W, in, X, in, &beta, Y, out);
  if (st) return st;
  add_bias<<<rows, 64, 0, stream>>>(bias, Y, out);
  cudaStreamSynchronize(stream);
  return cudaGetLastError() ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}
