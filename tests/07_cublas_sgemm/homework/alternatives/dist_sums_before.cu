// The norms are stored to D as sums first, the product is added with beta = 1, and a kernel takes the root.
// One launch makes the norms of both sets, with 8 lanes for each point.
#include "homework.cuh"

__global__ void squared_norms(const float* A, const float* B, float* norms, int m, int n, int d) {
  const int lane = threadIdx.x % 8, point = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
  const float* words = point < m ? A + point * d : B + (point - m) * d;
  float sum = 0.0f;
  if (point < m + n)
    for (int k = lane; k < d; k += 8) sum = fmaf(words[k], words[k], sum);
  for (int apart = 4; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffff, sum, apart);
  if (point < m + n && lane == 0) norms[point] = sum;
}

__global__ void add_norms(const float* norms, float* D, int m, int n) {
  for (int j = threadIdx.x; j < n; j += blockDim.x) D[blockIdx.x * n + j] = norms[blockIdx.x] + norms[m + j];
}

__global__ void take_roots(float* D, int words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < words) D[i] = D[i] > 0.0f ? sqrtf(D[i]) : 0.0f;
}

cublasStatus_t launch_distances(cublasHandle_t handle, const float* A, const float* B, float* D, float* workspace,
                                int m, int n, int d, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  squared_norms<<<(8 * (m + n) + 127) / 128, 128, 0, stream>>>(A, B, workspace, m, n, d);
  add_norms<<<m, 64, 0, stream>>>(workspace, D, m, n);
  const float alpha = -2.0f, one = 1.0f;
  status = cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, d, &alpha, B, d, A, d, &one, D, n);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  take_roots<<<(m * n + 255) / 256, 256, 0, stream>>>(D, m * n);
  return cudaGetLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
