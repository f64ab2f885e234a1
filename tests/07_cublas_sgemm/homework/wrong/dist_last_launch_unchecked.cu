// expect: distances findings launch 3 of 3
// points: distances 5..80
// Looks at the status of every call, and at errors before the last kernel.
#include "homework.cuh"

__global__ void norms(const float* points, float* sums, int rows, int d) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float sum = 0;
  for (int k = threadIdx.x; k < d; k += 32) sum += points[row * d + k] * points[row * d + k];
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (threadIdx.x == 0) sums[row] = sum;
}

__global__ void roots(const float* a, const float* b, float* D, int m, int n) {
  const int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i < m && j < n) D[i * n + j] = sqrtf(fmaxf(0.0f, a[i] + b[j] + D[i * n + j]));
}

cublasStatus_t launch_distances(cublasHandle_t handle, const float* A, const float* B, float* D, float* workspace,
                                int m, int n, int d, cudaStream_t stream) {
  const float minus_two = -2, zero = 0;
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, d, &minus_two, B, d, A, d, &zero, D, n);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  norms<<<(m + 3) / 4, dim3(32, 4), 0, stream>>>(A, workspace, m, d);
  norms<<<(n + 3) / 4, dim3(32, 4), 0, stream>>>(B, workspace + m, n, d);
  if (cudaGetLastError() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  roots<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8), 0, stream>>>(workspace, workspace + m, D, m, n);
  return CUBLAS_STATUS_SUCCESS;
}
