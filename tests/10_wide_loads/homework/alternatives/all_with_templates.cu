// All tasks with templates, structs and cooperative groups.
// Peeled rows: the words up to the first multiple of 16 bytes, then fours, then the rest. So rows of any length go wide.
#include "homework.cuh"

#include <cooperative_groups.h>

#include <cstdint>

namespace cg = cooperative_groups;

__global__ void __launch_bounds__(256) row_dots(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int lane = warp.thread_rank();
  for (int r = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank(); r < rows; r += gridDim.x * warp.meta_group_size()) {
    const float* row = A + std::size_t(r) * cols;
    const int head = min(cols, int(-(reinterpret_cast<std::uintptr_t>(row) / 4) & 3));
    const int fours = (cols - head) / 4;
    float sum = 0;
    if (head == 0) {
      for (int q = lane; q < fours; q += 32) {
        const float4 a = __ldg(reinterpret_cast<const float4*>(row) + q), b = __ldg(reinterpret_cast<const float4*>(x) + q);
        sum += (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w);
      }
    } else {
      if (lane < head) sum = row[lane] * x[lane];
      for (int q = lane; q < fours; q += 32) {
        const float4 a = *reinterpret_cast<const float4*>(row + head + 4 * q);
        const float* b = x + head + 4 * q;
        sum += a.x * b[0] + a.y * b[1] + a.z * b[2] + a.w * b[3];
      }
    }
    const int c = head + 4 * fours + lane;
    if (c < cols) sum += row[c] * x[c];
    for (int d = 16; d; d >>= 1) sum += warp.shfl_xor(sum, d);
    if (lane == 0) y[r] = sum;
  }
}

cudaError_t launch_row_dots(const float* A, const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  const int g = (rows + 7) / 8;
  row_dots<<<g < 1056 ? g : 1056, 256, 0, stream>>>(A, x, y, rows, cols);
  return cudaGetLastError();
}

// Only tiles on and below the diagonal are computed; each is stored twice.
template <bool Wide>
__device__ float4 load4(const float* p, int left) {
  if constexpr (Wide) {
    if (left > 0) return *reinterpret_cast<const float4*>(p);
    return {};
  }
  float4 v{};
  if (left > 0) v.x = p[0];
  if (left > 1) v.y = p[1];
  if (left > 2) v.z = p[2];
  if (left > 3) v.w = p[3];
  return v;
}

template <bool Wide>
__global__ void __launch_bounds__(64) gram(const float* A, float* G, int N, int K) {
  if (blockIdx.x > blockIdx.y) return;
  __shared__ __align__(16) float is[16][32], js[16][32];
  const int tx = threadIdx.x % 8, ty = threadIdx.x / 8, i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;
  float g[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int w = threadIdx.x; w < 128; w += 64) {
      const int k = w / 8, q = w % 8 * 4;
      const bool in = k0 + k < K;
      const float* row = A + std::size_t(k0 + k) * N;
      *reinterpret_cast<float4*>(&is[k][q]) = load4<Wide>(row + i0 + q, in ? N - i0 - q : 0);
      *reinterpret_cast<float4*>(&js[k][q]) = load4<Wide>(row + j0 + q, in ? N - j0 - q : 0);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float4 a = *reinterpret_cast<float4*>(&is[k][4 * ty]), b = *reinterpret_cast<float4*>(&js[k][4 * tx]);
      const float u[] = {a.x, a.y, a.z, a.w}, v[] = {b.x, b.y, b.z, b.w};
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) g[i][j] = fmaf(u[i], v[j], g[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int r = i0 + 4 * ty + i, c = j0 + 4 * tx + j;
      if (r >= N || c >= N) continue;
      G[std::size_t(r) * N + c] = g[i][j];
      if (i0 != j0) G[std::size_t(c) * N + r] = g[i][j];
    }
}

cudaError_t launch_gram(const float* A, float* G, int N, int K, cudaStream_t stream) {
  const dim3 g((N + 31) / 32, (N + 31) / 32);
  const auto kernel = N % 4 == 0 ? gram<true> : gram<false>;
  kernel<<<g, 64, 0, stream>>>(A, G, N, K);
  return cudaGetLastError();
}
