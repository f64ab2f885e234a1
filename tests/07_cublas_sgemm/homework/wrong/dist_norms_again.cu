// expect: distances efficiency sectors of loads
// points: distances 5..92
// Every element of D makes its two norms anew.
#include "homework.cuh"

__global__ void finish(const float* A, const float* B, float* D, int m, int n, int d) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= m || j >= n) return;
  float sum = D[i * n + j];
  for (int k = 0; k < d; ++k) sum += A[i * d + k] * A[i * d + k] + B[j * d + k] * B[j * d + k];
  D[i * n + j] = sqrtf(fmaxf(0.0f, sum));
}

cublasStatus_t launch_distances(cublasHandle_t handle, const float* A, const float* B, float* D, float* workspace,
                                int m, int n, int d, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const float alpha = -2.0f, zero = 0.0f;
  status = cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, d, &alpha, B, d, A, d, &zero, D, n);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  finish<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8), 0, stream>>>(A, B, D, m, n, d);
  return cudaGetLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
