// All tasks with templates, structs and cooperative groups.
// A class that computes by rows, on top of the handle.
#include "homework.cuh"

#include <cmath>

namespace {

class Rows {
 public:
  Rows(cublasHandle_t handle, cudaStream_t stream) : handle_(handle), status_(cublasSetStream(handle, stream)) {}

  // C = alpha X Y^T + beta C, all by rows: X is m x k, Y n x k.
  Rows& times_transposed(int m, int n, int k, float alpha, const float* X, int ldx, const float* Y, int ldy, float beta, float* C, int ldc) {
    if (ok()) status_ = cublasSgemm(handle_, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &alpha, Y, ldy, X, ldx, &beta, C, ldc);
    return *this;
  }

  template <class Launch>
  Rows& then(Launch launch) {
    if (!ok()) return *this;
    launch();
    if (cudaGetLastError() != cudaSuccess) status_ = CUBLAS_STATUS_EXECUTION_FAILED;
    return *this;
  }

  bool ok() const { return status_ == CUBLAS_STATUS_SUCCESS; }
  cublasStatus_t status() const { return status_; }

 private:
  cublasHandle_t handle_;
  cublasStatus_t status_;
};

__global__ void add_bias(float* Y, const float* __restrict__ bias, int out, unsigned long long size) {
  for (auto i = blockIdx.x * 256ull + threadIdx.x; i < size; i += gridDim.x * 256ull) Y[i] += bias[i % out];
}

// A point for each block; the first m blocks have A's.
__global__ void squares(const float* A, const float* B, float* norms, int m, int d) {
  __shared__ float part[4];
  const int p = blockIdx.x, lane = threadIdx.x % 32;
  const float* point = p < m ? A + std::size_t(p) * d : B + std::size_t(p - m) * d;
  float sum = 0;
  for (int k = threadIdx.x; k < d; k += 128) sum = fmaf(point[k], point[k], sum);
  for (int step = 16; step > 0; step >>= 1) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (lane == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) norms[p] = part[0] + part[1] + part[2] + part[3];
}

__global__ void finish(float* D, const float* norms, int m, int n) {
  const float* const b = norms + m;
  for (int i = blockIdx.y; i < m; i += gridDim.y) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n) {
      float& d = D[std::size_t(i) * n + j];
      d = std::sqrt(fmaxf(0.0f, norms[i] + (b[j] + d)));
    }
  }
}

}  // namespace

cublasStatus_t launch_linear(cublasHandle_t handle, const float* X, const float* W, const float* bias, float* Y,
                             int rows, int in, int out, cudaStream_t stream) {
  const unsigned long long size = 1ull * rows * out;
  const unsigned blocks = size < 256 * 4096 ? (size + 255) / 256 : 4096;
  return Rows(handle, stream)
      .times_transposed(rows, out, in, 1, X, in, W, in, 0, Y, out)
      .then([&] { add_bias<<<blocks, 256, 0, stream>>>(Y, bias, out, size); })
      .status();
}

cublasStatus_t launch_head_scores(cublasHandle_t handle, const float* Q, const float* K, float* S, int heads,
                                  int queries, int keys, int d, cudaStream_t stream) {
  if (auto status = cublasSetStream(handle, stream)) return status;
  const float alpha = 1.0f / std::sqrt(static_cast<float>(d)), beta = 0.0f;
  const long long head_q = d, head_s = static_cast<long long>(queries) * keys;
  return cublasGemmStridedBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, queries, d, &alpha, K, CUDA_R_32F, d, 0, Q,
                                    CUDA_R_32F, heads * d, head_q, &beta, S, CUDA_R_32F, keys, head_s, heads,
                                    CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t launch_distances(cublasHandle_t handle, const float* A, const float* B, float* D, float* workspace,
                                int m, int n, int d, cudaStream_t stream) {
  return Rows(handle, stream)
      .then([&] { squares<<<m + n, 128, 0, stream>>>(A, B, workspace, m, d); })
      .times_transposed(m, n, d, -2, A, d, B, d, 0, D, n)
      .then([&] { finish<<<dim3((n + 255) / 256, m), 256, 0, stream>>>(D, workspace, m, n); })
      .status();
}
