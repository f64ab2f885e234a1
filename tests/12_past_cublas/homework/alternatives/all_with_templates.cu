// All tasks with templates, structs and cooperative groups.
// Tiles of a triangle as a grid that is folded; a counter with acquire and release in one struct.
#include "homework.cuh"

#include <cmath>
#include <cstdint>

namespace {

constexpr int SIDE = 32, WARPS = 4, EACH = SIDE / WARPS;

template <bool Padded>
struct Tile {
  float w[SIDE][SIDE + Padded];
  // to[i][j] = from(row0 + i, col0 + j), 0 outside of rows x cols; `ld` words from row to row
  __device__ void load(const float* from, std::int64_t ld, int rows, int cols, int row0, int col0) {
#pragma unroll
    for (int i = threadIdx.y; i < SIDE; i += WARPS) {
      const int r = row0 + i, c = col0 + int(threadIdx.x);
      w[i][threadIdx.x] = r < rows && c < cols ? from[r * ld + c] : 0.0f;
    }
  }
};

// Two rows of the triangle make a row of a rectangle: row y and row tiles - 1 - y have tiles + 1 tiles together. Where
// their number is odd, begin with the row above the first, which has none: then each two have `tiles`.
__global__ void __launch_bounds__(SIDE* WARPS) similarities(const float* A, float* S, int N, int K, int tiles) {
  __shared__ Tile<false> I;
  __shared__ Tile<true> J;
  int row = int(blockIdx.y) - tiles % 2, col = blockIdx.x;
  if (col > row) {
    col -= row + 1;
    row = tiles - 1 - int(blockIdx.y);
  }
  const int lane = threadIdx.x, warp = threadIdx.y;
  float sum[EACH]{};
  for (int k0 = 0; k0 < K; k0 += SIDE) {
    I.load(A, K, N, K, row * SIDE, k0);
    J.load(A, K, N, K, col * SIDE, k0);
    __syncthreads();
    for (int k = 0; k < SIDE; ++k) {
      const float b = J.w[lane][k];
#pragma unroll
      for (int e = 0; e < EACH; ++e) sum[e] += I.w[warp * EACH + e][k] * b;
    }
    __syncthreads();
  }
  for (int e = 0; e < EACH; ++e) {
    const std::int64_t r = row * SIDE + warp * EACH + e, c = col * SIDE + lane;
    if (r < N && c < N) S[r * N + c] = sum[e];
    J.w[warp * EACH + e][lane] = sum[e];
  }
  __syncthreads();
  if (row != col)
    for (int j = warp; j < SIDE; j += WARPS) {
      const std::int64_t r = col * SIDE + j, c = row * SIDE + lane;
      if (r < N && c < N) S[r * N + c] = J.w[lane][j];
    }
}

struct Arrivals {
  int* counter;
  // True for all threads of the block that comes last of `expected`.
  __device__ bool last(int expected) const {
    __shared__ int before;
    __syncthreads();
    if (threadIdx.x + threadIdx.y == 0) {
      __threadfence();
      before = atomicAdd(counter, 1);
      if (before == expected - 1) atomicExch(counter, 0);
      __threadfence();
    }
    __syncthreads();
    return before == expected - 1;
  }
};

__global__ void layer(const float* X, const float* W, const float* __restrict__ bias, float* Y, int M, int N, int K, float* parts, int* arrived) {
  __shared__ Tile<false> Xs, Ws;
  const int slices = gridDim.z, slice = blockIdx.z, lane = threadIdx.x, warp = threadIdx.y;
  const int row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
  const int share = K / slices, rest = K % slices;
  const int k_begin = slice * share + (slice < rest ? slice : rest), k_end = k_begin + share + (slice < rest);
  float sum[EACH]{};
  for (int k0 = k_begin; k0 < k_end; k0 += SIDE) {
    Xs.load(X, K, M, k_end, row0, k0);
    Ws.load(W, N, k_end, N, k0, col0);
    __syncthreads();
    for (int k = 0; k < SIDE; ++k) {
      const float w = Ws.w[k][lane];
      for (int e = 0; e < EACH; ++e) sum[e] += Xs.w[warp + WARPS * e][k] * w;
    }
    __syncthreads();
  }
  const std::int64_t plane = std::int64_t(M) * N;
  const int c = col0 + lane;
  for (int e = 0; e < EACH; ++e)
    if (const int r = row0 + warp + WARPS * e; r < M && c < N) parts[slice * plane + std::int64_t(r) * N + c] = sum[e];
  if (!Arrivals{arrived + blockIdx.y * gridDim.x + blockIdx.x}.last(slices)) return;
  for (int e = 0; e < EACH; ++e)
    if (const int r = row0 + warp + WARPS * e; r < M && c < N) {
      const float* part = parts + std::int64_t(r) * N + c;
      float y = bias[c];
      for (int s = 0; s < slices; ++s, part += plane) y += *part;
      Y[std::int64_t(r) * N + c] = fmaxf(y, 0.0f);
    }
}

}  // namespace

cudaError_t launch_similarities(const float* A, float* S, int N, int K, cudaStream_t stream) {
  const int tiles = (N + SIDE - 1) / SIDE;
  similarities<<<dim3(tiles + 1 - tiles % 2, (tiles + 1) / 2), dim3(SIDE, WARPS), 0, stream>>>(A, S, N, K, tiles);
  return cudaGetLastError();
}

cudaError_t launch_sliced_layer(const float* X, const float* W, const float* bias, float* Y, int M, int N, int K,
                                int slices, float* parts, int* arrived, cudaStream_t stream) {
  const dim3 grid((N + SIDE - 1) / SIDE, (M + SIDE - 1) / SIDE, slices);
  layer<<<grid, dim3(SIDE, WARPS), 0, stream>>>(X, W, bias, Y, M, N, K, parts, arrived);
  return cudaGetLastError();
}
