// Where a thread stands, as defaults of a struct's members.
// Asynchronous copies with two stages and registers of 2 x 2 per thread; the last slice by atomicInc, which wraps to 0.
#include "homework.cuh"

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;
#define CEIL(a, b) (((a) + (b) - 1) / (b))

static constexpr int T = 32, P = T + 1, THREADS = 256;

// 16 x 16 threads; thread (x, y) has rows y, y + 16 and columns x, x + 16.
struct Block {
  int x = threadIdx.x % 16, y = threadIdx.x / 16;
};

__device__ void begin_copy(float (&to)[T][P], const float* from, size_t pitch, int r0, int c0, int r1, int c1) {
  for (int w = threadIdx.x; w < T * T; w += THREADS) {
    const int r = r0 + w / T, c = c0 + w % T;
    const bool in = r < r1 && c < c1;
    __pipeline_memcpy_async(&to[w / T][w % T], in ? from + r * pitch + c : from, 4, in ? 0 : 4);
  }
}

__global__ void __launch_bounds__(THREADS) similarities(const float* __restrict__ A, float* __restrict__ S, int N, int K) {
  __shared__ float I[2][T][P], J[2][T][P];
  const Block me;
  int tr = 0, b = blockIdx.x;
  for (; b > tr; ++tr) b -= tr + 1;
  const int r0 = tr * T, c0 = b * T;
  float s00 = 0, s01 = 0, s10 = 0, s11 = 0;
  begin_copy(I[0], A, K, r0, 0, N, K);
  begin_copy(J[0], A, K, c0, 0, N, K);
  __pipeline_commit();
  int now = 0;
  for (int k0 = 0; k0 < K; k0 += T, now ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k0 + T < K) {
      begin_copy(I[now ^ 1], A, K, r0, k0 + T, N, K);
      begin_copy(J[now ^ 1], A, K, c0, k0 + T, N, K);
    }
    __pipeline_commit();
#pragma unroll
    for (int k = 0; k < T; ++k) {
      const float a0 = I[now][me.y][k], a1 = I[now][me.y + 16][k], b0 = J[now][me.x][k], b1 = J[now][me.x + 16][k];
      s00 += a0 * b0, s01 += a0 * b1, s10 += a1 * b0, s11 += a1 * b1;
    }
  }
  __syncthreads();
  float(&turn)[T][P] = I[0];
  turn[me.y][me.x] = s00, turn[me.y][me.x + 16] = s01, turn[me.y + 16][me.x] = s10, turn[me.y + 16][me.x + 16] = s11;
  __syncthreads();
  for (int w = threadIdx.x; w < T * T; w += THREADS) {
    const int i = w / T, j = w % T;
    if (r0 + i < N && c0 + j < N) S[size_t(r0 + i) * N + c0 + j] = turn[i][j];
    if (r0 != c0 && c0 + i < N && r0 + j < N) S[size_t(c0 + i) * N + r0 + j] = turn[j][i];
  }
}

cudaError_t launch_similarities(const float* A, float* S, int N, int K, cudaStream_t stream) {
  const int t = CEIL(N, T);
  similarities<<<t * (t + 1) / 2, THREADS, 0, stream>>>(A, S, N, K);
  return cudaGetLastError();
}

__global__ void __launch_bounds__(THREADS)
    layer(const float* __restrict__ X, const float* __restrict__ W, const float* __restrict__ bias, float* __restrict__ Y,
          int M, int N, int K, float* parts, unsigned* arrived) {
  __shared__ float Xs[2][T][P], Ws[2][T][P];
  const auto block = cg::this_thread_block();
  const Block me;
  const int r0 = blockIdx.y * T, c0 = blockIdx.x * T, slices = gridDim.z, slice = blockIdx.z;
  const int per = K / slices, rest = K % slices;
  const int k_begin = slice * per + min(slice, rest), k_end = k_begin + per + (slice < rest);
  float sum[2][2] = {{0, 0}, {0, 0}};
  if (k_begin < k_end) {
    begin_copy(Xs[0], X, K, r0, k_begin, M, k_end);
    begin_copy(Ws[0], W, N, k_begin, c0, k_end, N);
  }
  __pipeline_commit();
  for (int k0 = k_begin, now = 0; k0 < k_end; k0 += T, now = 1 - now) {
    __pipeline_wait_prior(0);
    block.sync();
    if (k0 + T < k_end) {
      begin_copy(Xs[1 - now], X, K, r0, k0 + T, M, k_end);
      begin_copy(Ws[1 - now], W, N, k0 + T, c0, k_end, N);
    }
    __pipeline_commit();
#pragma unroll 8
    for (int k = 0; k < T; ++k)
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) sum[i][j] += Xs[now][me.y + 16 * i][k] * Ws[now][k][me.x + 16 * j];
  }
  __pipeline_wait_prior(0);
  block.sync();
#pragma unroll
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) Xs[0][me.y + 16 * i][me.x + 16 * j] = sum[i][j];
  block.sync();
  for (int w = block.thread_rank(); w < T * T; w += block.size()) {
    const int r = r0 + w / T, c = c0 + w % T;
    if (r < M && c < N) parts[(size_t(slice) * M + r) * N + c] = Xs[0][w / T][w % T];
  }
  __threadfence();
  block.sync();
  __shared__ unsigned ticket;
  if (block.thread_rank() == 0) ticket = atomicInc(arrived + blockIdx.y * gridDim.x + blockIdx.x, slices - 1);
  block.sync();
  if (ticket < unsigned(slices) - 1) return;
  __threadfence();
  for (int w = block.thread_rank(); w < T * T; w += block.size()) {
    const int r = r0 + w / T, c = c0 + w % T;
    if (r >= M || c >= N) continue;
    const float* p = parts + size_t(r) * N + c;
    float total = *p;
    for (int s = 1; s < slices; ++s) total += *(p += size_t(M) * N);
    Y[size_t(r) * N + c] = max(0.0f, total + bias[c]);
  }
}

cudaError_t launch_sliced_layer(const float* X, const float* W, const float* bias, float* Y, int M, int N, int K,
                                int slices, float* parts, int* arrived, cudaStream_t stream) {
  layer<<<dim3(CEIL(N, T), CEIL(M, T), slices), THREADS, 0, stream>>>(X, W, bias, Y, M, N, K, parts,
                                                                         reinterpret_cast<unsigned*>(arrived));
  return cudaGetLastError();
}
