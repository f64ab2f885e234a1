// expect: linear visible another handle than the one
// points: linear 5..58
// Makes a handle for the call, and sets the stream of both.
#include "homework.cuh"
__global__ void add_bias(const float* bias, float* Y, int out) {
  float* y = Y + (size_t)blockIdx.x * out;
  for (int j = threadIdx.x; j < out; j += blockDim.x) y[j] += bias[j];
}
cublasStatus_t launch_linear(cublasHandle_t handle, const float* X, const float* W, const float* bias, float* Y,
                             int rows, int in, int out, cudaStream_t stream) {
  cublasHandle_t h2;
  cublasCreate(&h2);
  cublasSetStream(handle, stream);
  cublasStatus_t st = cublasSetStream(h2, stream);
  if (st) return st;
  float alpha = 1.f, beta = 0.f;
  st = cublasSgemm(h2, CUBLAS_OP_C, CUBLAS_OP_N, out, rows, in, &alpha, W, in, X, in, &beta, Y, out);
  if (st) return st;
  cublasDestroy(h2);
  add_bias<<<rows, 64, 0, stream>>>(bias, Y, out);
  return cudaGetLastError() ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}
