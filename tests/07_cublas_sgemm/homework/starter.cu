// Homework of chapter 07. `make homework-07` grades this file; `make homework-07 WATCH=1` does so whenever you save it.
// homework.cuh says what the functions must do; tasks and hints are at the end of the chapter's page.
// You need to add lines, and to change none.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// About eight lines of these two functions are missing. They compile.

__global__ void fill_rows(const float* bias, float* Y, int rows, int out) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  // TODO (1 line): not every thread has an element
    Y[i * out + j] = bias[j];
}

cublasStatus_t launch_linear(cublasHandle_t handle, const float* X, const float* W, const float* bias, float* Y,
                             int rows, int in, int out, cudaStream_t stream) {
  // TODO (2 lines): the handle is not on this stream yet

  // Y begins as the bias, in every row ...
  fill_rows<<<dim3((out + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(bias, Y, rows, out);
  if (cudaGetLastError() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  // ... and the product is added to it.
  // TODO (about 5 lines): one call
  return CUBLAS_STATUS_SUCCESS;
}

// ---------------------------------------------------------------------------------------------- 2. core
// The scores of all heads, with one call.

cublasStatus_t launch_head_scores(cublasHandle_t handle, const float* Q, const float* K, float* S, int heads,
                                  int queries, int keys, int d, cudaStream_t stream) {
  // TODO (about 10 lines)
  return CUBLAS_STATUS_SUCCESS;
}

// ---------------------------------------------------------------------------------------------- 3. stretch
// All distances between the points of A and those of B: a product, and kernels for the rest.

// TODO (about 25 lines): kernels

cublasStatus_t launch_distances(cublasHandle_t handle, const float* A, const float* B, float* D, float* workspace,
                                int m, int n, int d, cudaStream_t stream) {
  // TODO (about 12 lines): launch them, and call the library
  return CUBLAS_STATUS_SUCCESS;
}
