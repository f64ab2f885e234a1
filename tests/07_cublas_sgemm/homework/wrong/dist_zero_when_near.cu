// expect: distances visible elements are wrong
// points: distances 5..58
// Takes points that are near one another for the same.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include "homework.cuh"
namespace cg = cooperative_groups;
__global__ void norms(const float* A, const float* B, float* w, int m, int n, int d) {
  auto g = cg::tiled_partition<16>(cg::this_thread_block());
  const int p = (blockIdx.x * blockDim.x + threadIdx.x) / 16;
  float s = 0;
  if (p < m + n) {
    const float* r = p < m ? A + (size_t)p * d : B + (size_t)(p - m) * d;
    for (int k = g.thread_rank(); k < d; k += 16) s = fmaf(r[k], r[k], s);
  }
  s = cg::reduce(g, s, cg::plus<float>());
  if (p < m + n && g.thread_rank() == 0) w[p] = s;
}
__global__ void fin(const float* w, float* D, int m, int n) {
  for (size_t t = blockIdx.x * (size_t)blockDim.x + threadIdx.x; t < (size_t)m * n;
       t += (size_t)gridDim.x * blockDim.x) {
    const float v = w[t / n] + w[m + t % n] - 2 * D[t];
    D[t] = v > 1e-3f ? sqrtf(v) : 0.f;
  }
}
cublasStatus_t launch_distances(cublasHandle_t handle, const float* A, const float* B, float* D, float* workspace,
                                int m, int n, int d, cudaStream_t stream) {
  if (auto s = cublasSetStream(handle, stream)) return s;
  norms<<<((m + n) * 16 + 127) / 128, 128, 0, stream>>>(A, B, workspace, m, n, d);
  if (cudaGetLastError()) return CUBLAS_STATUS_EXECUTION_FAILED;
  const float one = 1, zero = 0;
  if (auto s = cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, d, &one, B, d, A, d, &zero, D, n)) return s;
  fin<<<60, 192, 0, stream>>>(workspace, D, m, n);
  return cudaGetLastError() ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}
