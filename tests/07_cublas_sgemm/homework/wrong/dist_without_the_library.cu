// expect: distances efficiency sectors of loads
// points: distances 5..92
// Every element by itself, from global memory.
#include "homework.cuh"

__global__ void distances(const float* A, const float* B, float* D, int m, int n, int d) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= m || j >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < d; ++k) {
    const float difference = A[i * d + k] - B[j * d + k];
    sum += difference * difference;
  }
  D[i * n + j] = sqrtf(sum);
}

cublasStatus_t launch_distances(cublasHandle_t handle, const float* A, const float* B, float* D, float* workspace,
                                int m, int n, int d, cudaStream_t stream) {
  cublasSetStream(handle, stream);
  distances<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8), 0, stream>>>(A, B, D, m, n, d);
  return cudaGetLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
