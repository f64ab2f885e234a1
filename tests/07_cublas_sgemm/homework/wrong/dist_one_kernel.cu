// expect: distances findings race-global
// points: distances 5..80
// Norms are made and used in the same launch.
#include "homework.cuh"

__global__ void finish(const float* A, const float* B, float* norms, float* D, int m, int n, int d) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < m && j == 0) {
    norms[i] = 0.0f;
    for (int k = 0; k < d; ++k) norms[i] += A[i * d + k] * A[i * d + k];
  }
  if (i == 0 && j < n) {
    norms[m + j] = 0.0f;
    for (int k = 0; k < d; ++k) norms[m + j] += B[j * d + k] * B[j * d + k];
  }
  __syncthreads();
  if (i < m && j < n) D[i * n + j] = sqrtf(fmaxf(0.0f, norms[i] + norms[m + j] + D[i * n + j]));
}

cublasStatus_t launch_distances(cublasHandle_t handle, const float* A, const float* B, float* D, float* workspace,
                                int m, int n, int d, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const float alpha = -2.0f, zero = 0.0f;
  status = cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, d, &alpha, B, d, A, d, &zero, D, n);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  finish<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8), 0, stream>>>(A, B, workspace, D, m, n, d);
  return cudaGetLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
