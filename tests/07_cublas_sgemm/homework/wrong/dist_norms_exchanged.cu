// expect: distances visible the norms are exchanged
// points: distances 5..58
#include "homework.cuh"

__global__ void squared_norms(const float* points, float* norms, int rows, int d) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = threadIdx.x; k < d; k += 32) sum += points[row * d + k] * points[row * d + k];
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (threadIdx.x == 0) norms[row] = sum;
}

__global__ void finish(const float* norms_a, const float* norms_b, float* D, int m, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < m && j < n) D[i * n + j] = sqrtf(fmaxf(0.0f, norms_a[j % m] + norms_b[i % n] + D[i * n + j]));
}

cublasStatus_t launch_distances(cublasHandle_t handle, const float* A, const float* B, float* D, float* workspace,
                                int m, int n, int d, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const float alpha = -2.0f, zero = 0.0f;
  status = cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, d, &alpha, B, d, A, d, &zero, D, n);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  squared_norms<<<(m + 3) / 4, dim3(32, 4), 0, stream>>>(A, workspace, m, d);
  squared_norms<<<(n + 3) / 4, dim3(32, 4), 0, stream>>>(B, workspace + m, n, d);
  finish<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8), 0, stream>>>(workspace, workspace + m, D, m, n);
  return cudaGetLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
