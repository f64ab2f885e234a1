// All tasks by hand-written indices, shuffles and swizzles; comments are Chinese.
// 第一章作业。合并访问；用 shuffle 广播 A 的元素。
#include "homework.cuh"

typedef unsigned int uint;

// 一个 warp 处理一行
__global__ void scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const uint lane = threadIdx.x & 31, row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  if (row >= rows) return;
  const float* from = X + size_t(row) * ldx;
  const float* const end = from + cols;
  float* to = Y + size_t(row) * cols + lane;
  for (from += lane; from < end; from += warpSize, to += warpSize) *to = s[row] * *from;
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols, cudaStream_t stream) {
  scale_rows<<<(rows + 7) / 8, 256, 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}

// 每个线程块计算 C 的一列中的 64 个元素；网格的 y 是列
__global__ void by_columns(const float* a, const float* b, float* c, int M, int N, int K) {
  const int i = blockIdx.y * 64 + threadIdx.x, j = blockIdx.x;
  if (i >= M) return;
  a += i;
  b += size_t(j) * K;
  float acc = 0.f;
  const float* const stop = b + K;
  do {
    acc += *a * *b;
    a += M;
  } while (++b < stop);
  c[size_t(j) * M + i] = acc;
}

cudaError_t launch_matmul_by_columns(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  by_columns<<<dim3(N, (M + 63) / 64), 64, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}

// 每个 lane 读 A 的一个元素，再广播给整个 warp：A 的请求减少到 1/32
__global__ void coarsened(const float* A, const float* B, float* C, int M, int N, int K) {
  const int lane = threadIdx.x, col = blockIdx.x * 32 + lane, row = 4 * (blockIdx.y * blockDim.y + threadIdx.y);
  if (row >= M) return;  // 整个 warp 一起离开
  float4 sum = make_float4(0, 0, 0, 0);
  for (int k0 = 0; k0 < K; k0 += 32) {
    const bool in = k0 + lane < K;
    const float* p = A + size_t(row) * K + k0 + lane;
    const float a0 = in ? p[0] : 0, a1 = in && row + 1 < M ? p[K] : 0;
    const float a2 = in && row + 2 < M ? p[2 * size_t(K)] : 0, a3 = in && row + 3 < M ? p[3 * size_t(K)] : 0;
    const int left = min(32, K - k0);
    for (int k = 0; k < left; ++k) {
      const float b = col < N ? B[size_t(k0 + k) * N + col] : 0;
      sum.x += __shfl_sync(0xffffffffu, a0, k) * b;
      sum.y += __shfl_sync(0xffffffffu, a1, k) * b;
      sum.z += __shfl_sync(0xffffffffu, a2, k) * b;
      sum.w += __shfl_sync(0xffffffffu, a3, k) * b;
    }
  }
  if (col >= N) return;
  float* c = C + size_t(row) * N + col;
  *c = sum.x;
  if (row + 1 < M) *(c += N) = sum.y;
  if (row + 2 < M) *(c += N) = sum.z;
  if (row + 3 < M) *(c += N) = sum.w;
}

cudaError_t launch_matmul_coarsened(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  coarsened<<<dim3((N + 31) / 32, (M + 15) / 16), dim3(32, 4), 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
