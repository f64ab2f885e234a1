// One solution of the homework of chapter 07. `make solution-07` prints it.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// About eight lines of these two functions are missing. They compile.

__global__ void fill_rows(const float* bias, float* Y, int rows, int out) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < rows && j < out)
    Y[i * out + j] = bias[j];
}

cublasStatus_t launch_linear(cublasHandle_t handle, const float* X, const float* W, const float* bias, float* Y,
                             int rows, int in, int out, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;

  // Y begins as the bias, in every row ...
  fill_rows<<<dim3((out + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(bias, Y, rows, out);
  if (cudaGetLastError() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  // ... and the product is added to it.
  // By columns: Y^T = W X^T, out x rows. What cuBLAS sees of W's words is W^T, so W is transposed once more; what it
  // sees of X's words is X^T, as wanted. beta = 1 keeps the bias.
  const float one = 1.0f;
  status = cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, out, rows, in, &one, W, in, X, in, &one, Y, out);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return CUBLAS_STATUS_SUCCESS;
}

// ---------------------------------------------------------------------------------------------- 2. core
// The scores of all heads, with one call.

cublasStatus_t launch_head_scores(cublasHandle_t handle, const float* Q, const float* K, float* S, int heads,
                                  int queries, int keys, int d, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  // For one head, by columns: S_h^T = K Q_h^T, keys x queries. Q_h begins d words after Q_{h-1}, in the middle of a
  // row, and from one of its rows to the next there are heads * d words. All heads have the same K: its stride is 0.
  const float scale = 1.0f / sqrtf(static_cast<float>(d)), zero = 0.0f;
  status = cublasSgemmStridedBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, queries, d,  //
                                     &scale, K, d, 0,                                     //
                                     Q, heads * d, d,                                     //
                                     &zero, S, keys, static_cast<long long>(queries) * keys, heads);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return CUBLAS_STATUS_SUCCESS;
}

// ---------------------------------------------------------------------------------------------- 3. stretch
// All distances between the points of A and those of B: a product, and kernels for the rest.

// norms[r] = the sum of the squares of row r. A warp for each row, so that neighbouring lanes read neighbouring words.
__global__ void squared_norms(const float* points, float* norms, int rows, int d) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;  // a whole warp
  float sum = 0.0f;
  for (int k = threadIdx.x; k < d; k += 32) {
    const float v = points[static_cast<size_t>(row) * d + k];
    sum += v * v;
  }
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (threadIdx.x == 0) norms[row] = sum;
}

// D holds -2 a_i . b_j before. For points close together three large numbers nearly cancel: what is left may be a
// rounding error, and that may be negative.
__global__ void finish_distances(const float* norms_a, const float* norms_b, float* D, int m, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= m || j >= n) return;
  const size_t at = static_cast<size_t>(i) * n + j;
  D[at] = sqrtf(fmaxf(0.0f, norms_a[i] + norms_b[j] + D[at]));
}

cublasStatus_t launch_distances(cublasHandle_t handle, const float* A, const float* B, float* D, float* workspace,
                                int m, int n, int d, cudaStream_t stream) {
  cublasStatus_t status = cublasSetStream(handle, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const float minus_two = -2.0f, zero = 0.0f;
  status = cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, d, &minus_two, B, d, A, d, &zero, D, n);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  float *norms_a = workspace, *norms_b = workspace + m;
  squared_norms<<<(m + 3) / 4, dim3(32, 4), 0, stream>>>(A, norms_a, m, d);
  squared_norms<<<(n + 3) / 4, dim3(32, 4), 0, stream>>>(B, norms_b, n, d);
  finish_distances<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8), 0, stream>>>(norms_a, norms_b, D, m, n);
  if (cudaGetLastError() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  return CUBLAS_STATUS_SUCCESS;
}
