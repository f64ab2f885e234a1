// Norms of both sets by one kernel, whose name CUDA has for a function, too; the first failure is kept in a struct.
#include "homework.cuh"

#include <cooperative_groups.h>

#include <algorithm>
using namespace std;

struct OnStream {  // tells the first failure
  cublasHandle_t handle;
  cublasStatus_t status;
  OnStream(cublasHandle_t h, cudaStream_t s) : handle(h), status(cublasSetStream(h, s)) {}
  void operator()(cublasStatus_t next) {
    if (status == CUBLAS_STATUS_SUCCESS) status = next;
  }
  void launched() {
    if (cudaGetLastError() != cudaSuccess) (*this)(CUBLAS_STATUS_EXECUTION_FAILED);
  }
  bool fine() const { return status == CUBLAS_STATUS_SUCCESS; }
};

cublasStatus_t launch_head_scores(cublasHandle_t handle, const float* Q, const float* K, float* S, int heads,
                                  int queries, int keys, int d, cudaStream_t stream) {
  OnStream call(handle, stream);
  const float scale = static_cast<float>(1.0 / sqrt(double(d))), none = 0;
  if (call.fine())
    call(cublasSgemmStridedBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, queries, d, &scale, K, d, 0, Q, heads * d, d,
                                   &none, S, keys, static_cast<long long>(keys) * queries, heads));
  return call.status;
}

__global__ void norm(const float* A, const float* B, float* of, int m, int n, int d) {
  const auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  const int i = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  if (i >= m + n) return;
  const float* p = i < m ? A + size_t(i) * d : B + size_t(i - m) * d;
  float sum = 0;
  for (int k = warp.thread_rank(); k < d; k += 32) sum += p[k] * p[k];
  for (int step = 16; step; step /= 2) sum += warp.shfl_down(sum, step);
  if (warp.thread_rank() == 0) of[i] = sum;
}

__global__ void distance(float* D, const float* of, int m, int n) {
  const unsigned long long i = blockIdx.x * 256ull + threadIdx.x;
  if (i < 1ull * m * n) D[i] = sqrt(max(0.0f, of[i / n] + of[m + i % n] - 2 * D[i]));
}

cublasStatus_t launch_distances(cublasHandle_t handle, const float* A, const float* B, float* D, float* workspace,
                                int m, int n, int d, cudaStream_t stream) {
  OnStream call(handle, stream);
  if (!call.fine()) return call.status;
  norm<<<(m + n + 3) / 4, 128, 0, stream>>>(A, B, workspace, m, n, d);
  call.launched();
  const float one = 1, zero = 0;
  if (call.fine()) call(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, d, &one, B, d, A, d, &zero, D, n));
  if (!call.fine()) return call.status;
  distance<<<unsigned((1ull * m * n + 255) / 256), 256, 0, stream>>>(D, workspace, m, n);
  call.launched();
  return call.status;
}
