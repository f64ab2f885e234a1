// All tasks with templates, structs and cooperative groups.
// Grid-stride over tiles, cooperative groups, dynamic shared memory, templates, a struct for a tile.
#include "homework.cuh"

#include <cooperative_groups.h>

#include <algorithm>

namespace cg = cooperative_groups;

namespace {

constexpr int radius = 2;

// A block takes one span after another, so a second barrier keeps the next span from overwriting words still in use.
template <int Span>
__global__ void moving_sums(const float* __restrict__ x, float* __restrict__ y, int n, int spans) {
  extern __shared__ float window[];
  auto block = cg::this_thread_block();
  const int t = static_cast<int>(block.thread_rank());
  for (int span = blockIdx.x; span < spans; span += gridDim.x) {
    const long first = static_cast<long>(span) * Span;
    const auto fetch = [&](int at) {
      const long i = first + at - radius;
      window[at] = i < 0 || i >= n ? 0.0f : __ldg(&x[i]);
    };
    fetch(t + radius);
    if (t < radius) {
      fetch(t);
      fetch(Span + radius + t);
    }
    block.sync();
    float sum = window[t];
#pragma unroll
    for (int d = 1; d <= 2 * radius; ++d) sum += window[t + d];
    if (first + t < n) y[first + t] = sum;
    block.sync();
  }
}

// A tile of HEIGHT x WIDTH words that the block fetches together, by rows.
template <int Height, int Width, int Pitch = Width>
struct Tile {
  float words[Height][Pitch];
  __device__ void fetch(const float* from, int rows, int cols, int row0, int col0, int rank, int threads) {
    for (int w = rank; w < Height * Width; w += threads) {
      const int r = w / Width, c = w % Width;
      words[r][c] = row0 + r < rows && col0 + c < cols ? from[size_t(row0 + r) * cols + (col0 + c)] : 0.0f;
    }
  }
};

// 32 x 32 elements of C for 128 threads: each has a column and eight rows of it.
__global__ __launch_bounds__(128) void at_b(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ Tile<32, 32> a, b;
  const auto block = cg::this_thread_block();
  const int rank = block.thread_rank(), lane = rank % 32, warp = rank / 32;
  const int i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;
  float c[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  for (int k0 = 0; k0 < K; k0 += 32) {
    a.fetch(A, K, M, k0, i0, rank, 128);
    b.fetch(B, K, N, k0, j0, rank, 128);
    cg::sync(block);
#pragma unroll 4
    for (int k = 0; k < 32; ++k) {
      const float right = b.words[k][lane];
#pragma unroll
      for (int e = 0; e < 8; ++e) c[e] = __fmaf_rn(a.words[k][warp * 8 + e], right, c[e]);
    }
    cg::sync(block);
  }
  for (int e = 0; e < 8; ++e)
    if (const int i = i0 + warp * 8 + e; i < M && j0 + lane < N) C[size_t(i) * N + j0 + lane] = c[e];
}

// The same with rows of both: b is read down a column, so its rows are one word longer.
__global__ __launch_bounds__(256) void a_bt(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ Tile<32, 32> a;
  __shared__ Tile<32, 32, 33> b;
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const int rank = block.thread_rank(), lane = warp.thread_rank(), row = warp.meta_group_rank();
  const int i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;
  float c[4]{};
  for (int k0 = 0; k0 < K; k0 += 32) {
    a.fetch(A, M, K, i0, k0, rank, 256);
    b.fetch(B, N, K, j0, k0, rank, 256);
    block.sync();
    for (int k = 0; k < 32; ++k)
      for (int e = 0; e < 4; ++e) c[e] += a.words[row + 8 * e][k] * b.words[lane][k];
    block.sync();
  }
  for (int e = 0; e < 4; ++e) {
    const int i = i0 + row + 8 * e, j = j0 + lane;
    if (i < M && j < N) C[size_t(i) * N + j] = c[e];
  }
}

}  // namespace

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  constexpr int span = 128;
  const int spans = (n + span - 1) / span;
  moving_sums<span><<<std::min(spans, 2048), span, (span + 2 * radius) * sizeof(float), stream>>>(x, y, n, spans);
  return cudaGetLastError();
}

cudaError_t launch_matmul_at_b(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  at_b<<<dim3((N + 31) / 32, (M + 31) / 32), 128, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}

cudaError_t launch_matmul_a_bt(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  a_bt<<<dim3((N + 31) / 32, (M + 31) / 32), 256, 0, stream>>>(A, B, C, M, N, K);
  return cudaGetLastError();
}
