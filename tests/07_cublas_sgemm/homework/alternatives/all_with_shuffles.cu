// All tasks by hand-written indices, shuffles and swizzles; comments are Chinese.
// 第七章：cuBLAS。bias 用秩一更新；距离先填 |a|^2 + |b|^2，再用 beta = 1。
#include "homework.cuh"

__global__ void ones(float* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = 1;
}

__global__ void copy_bias(const float4* b4, const float* bias, float* Y, int out) {
  (void)b4;
  float* row = Y + (size_t)blockIdx.x * out;
  for (int j = threadIdx.x; j < out; j += blockDim.x) row[j] = bias[j];
}

cublasStatus_t launch_linear(cublasHandle_t handle, const float* X, const float* W, const float* bias, float* Y, int rows,
                             int in, int out, cudaStream_t stream) {
  cublasStatus_t s = cublasSetStream(handle, stream);
  if (s != CUBLAS_STATUS_SUCCESS) return s;
  copy_bias<<<rows, out < 256 ? 64 : 256, 0, stream>>>(nullptr, bias, Y, out);
  if (cudaGetLastError() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  static const float one = 1.0f;
  return cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, out, rows, in, &one, W, CUDA_R_32F, in, X, CUDA_R_32F, in, &one, Y,
                      CUDA_R_32F, out, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

// S[h] (queries x keys)：按列看是 keys x queries
cublasStatus_t launch_head_scores(cublasHandle_t handle, const float* Q, const float* K, float* S, int heads, int queries,
                                  int keys, int d, cudaStream_t stream) {
  cublasStatus_t s;
  if ((s = cublasSetStream(handle, stream)) != CUBLAS_STATUS_SUCCESS) return s;
  const float scale = rsqrtf(float(d));
  const float zero[1] = {};
  return cublasSgemmStridedBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, queries, d, &scale,
                                   K, d, 0LL,               // 所有的头共用
                                   Q, d * heads, d,         // 每个头 d 个字
                                   zero, S, keys, 1LL * keys * queries, heads);
}

__global__ void norms(const float* P, float* out, int count, int d) {
  for (int i = blockIdx.x * blockDim.y + threadIdx.y; i < count; i += gridDim.x * blockDim.y) {
    float sum = 0;
    for (int k = threadIdx.x; k < d; k += 32) sum += P[size_t(i) * d + k] * P[size_t(i) * d + k];
    sum += __shfl_down_sync(0xffffffff, sum, 16);
    sum += __shfl_down_sync(0xffffffff, sum, 8);
    sum += __shfl_down_sync(0xffffffff, sum, 4);
    sum += __shfl_down_sync(0xffffffff, sum, 2);
    sum += __shfl_down_sync(0xffffffff, sum, 1);
    if (!threadIdx.x) out[i] = sum;
  }
}

__global__ void fill(const float* a, const float* b, float* D, int m, int n) {
  const int j = blockIdx.x * 64 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
  if (j < n && i < m) D[size_t(i) * n + j] = a[i] + b[j];
}

__global__ void root(float* D, size_t size) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < size; i += size_t(gridDim.x) * blockDim.x)
    D[i] = D[i] <= 0 ? 0 : sqrtf(D[i]);
}

cublasStatus_t launch_distances(cublasHandle_t handle, const float* A, const float* B, float* D, float* workspace, int m,
                                int n, int d, cudaStream_t stream) {
  const float minus_two = -2, one = 1;
  float *a = workspace, *b = a + m;
  cublasStatus_t s = cublasSetStream(handle, stream);
  if (s) return s;
  norms<<<(m + 3) / 4, dim3(32, 4), 0, stream>>>(A, a, m, d);
  if (cudaGetLastError()) return CUBLAS_STATUS_EXECUTION_FAILED;
  norms<<<(n + 3) / 4, dim3(32, 4), 0, stream>>>(B, b, n, d);
  if (cudaGetLastError()) return CUBLAS_STATUS_EXECUTION_FAILED;
  fill<<<dim3((n + 63) / 64, (m + 3) / 4), dim3(64, 4), 0, stream>>>(a, b, D, m, n);
  if (cudaGetLastError()) return CUBLAS_STATUS_EXECUTION_FAILED;
  s = cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, d, &minus_two, B, d, A, d, &one, D, n);
  if (s) return s;
  const size_t size = size_t(m) * n, blocks = (size + 255) / 256;
  root<<<blocks < 8192 ? unsigned(blocks) : 8192u, 256, 0, stream>>>(D, size);
  return cudaGetLastError() ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}
