// expect: distances efficiency calls of a library
// points: distances 5..92
// The norms by a call for each point.
#include "homework.cuh"

__global__ void finish(const float* norms_a, const float* norms_b, float* D, int m, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < m && j < n) D[i * n + j] = sqrtf(fmaxf(0.0f, norms_a[i] + norms_b[j] + D[i * n + j]));
}

cublasStatus_t launch_distances(cublasHandle_t handle, const float* A, const float* B, float* D, float* workspace,
                                int m, int n, int d, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const float alpha = -2.0f, zero = 0.0f;
  status = cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, d, &alpha, B, d, A, d, &zero, D, n);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const float one = 1.0f;
  for (int i = 0; i < m; ++i)
    cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, d, &one, A + i * d, d, A + i * d, d, &zero, workspace + i, 1);
  for (int j = 0; j < n; ++j)
    cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, d, &one, B + j * d, d, B + j * d, d, &zero, workspace + m + j,
                1);
  finish<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8), 0, stream>>>(workspace, workspace + m, D, m, n);
  return cudaGetLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
