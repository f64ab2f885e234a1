// Blocks of one warp with 16 bytes per copy; strips of a warp, which waits with __syncwarp() only.
#include "homework.cuh"

#include <cuda_pipeline.h>

constexpr int P = 128, T = 32, EACH = 4;  // words of a piece, threads, scores of a thread

__global__ void match(const float* x, const float* pattern, float* score, int positions, int length) {
  __shared__ __align__(16) float xs[2][P + T * EACH + 4];
  __shared__ __align__(16) float ps[2][P];
  const int t = threadIdx.x, first = blockIdx.x * T * EACH, words = positions + length - 1;
  const auto copy = [](float* to, const float* array, int at, int size) {
    const int left = min(4, max(0, size - at));
    __pipeline_memcpy_async(to, array + (left ? at : 0), 16, 16 - 4 * left);
  };
  const auto begin = [&](int p) {
    for (int w = 4 * t; w < P; w += 4 * T) copy(&ps[p & 1][w], pattern, p * P + w, length);
    for (int w = 4 * t; w < P + T * EACH; w += 4 * T) copy(&xs[p & 1][w], x, first + p * P + w, words);
    __pipeline_commit();
  };
  float s[EACH] = {};
  begin(0);
  for (int p = 0; p * P < length; ++p) {
    if ((p + 1) * P < length) {
      begin(p + 1);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    for (int i = 0; i < P; ++i)
      for (int e = 0; e < EACH; ++e) s[e] += ps[p & 1][i] * xs[p & 1][i + t + T * e];
    __syncthreads();
  }
  for (int e = 0; e < EACH; ++e)
    if (first + t + T * e < positions) score[first + t + T * e] = s[e];
}

cudaError_t launch_match(const float* x, const float* pattern, float* score, int positions, int length, cudaStream_t stream) {
  match<<<(positions + T * EACH - 1) / (T * EACH), T, 0, stream>>>(x, pattern, score, positions, length);
  return cudaGetLastError();
}

// A warp goes down a strip of 32 columns by itself: no barrier of the block, only __syncwarp(). Sums of the three rows are
// made first, then shuffles bring the neighbours'; lanes 0 and 31 have the two columns beside the strip, too.
__global__ void blur(const float* in, float* out, int rows, int cols, int high) {
  constexpr int ring = 5;
  __shared__ float s[4][ring][34];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int c0 = (blockIdx.x * 4 + warp) * 32, begin = blockIdx.y * high, end = min(begin + high, rows);
  if (c0 >= cols) return;
  auto fetch = [&](int r) {
    if (r <= end)
      for (int w = lane; w < 34; w += 32) {
        const int c = c0 + w - 1;
        const bool in_there = 0 <= r && r < rows && 0 <= c && c < cols;
        __pipeline_memcpy_async(&s[warp][(r + ring) % ring][w], in_there ? in + size_t(r) * cols + c : in, 4, in_there ? 0 : 4);
      }
    __pipeline_commit();
  };
  for (int r = begin - 1; r < begin + 3; ++r) fetch(r);
  for (int r = begin; r < end; ++r) {
    __pipeline_wait_prior(1);
    __syncwarp();
    fetch(r + 3);
    const float *up = s[warp][(r - 1 + ring) % ring], *mid = s[warp][r % ring], *down = s[warp][(r + 1) % ring];
    const float mine = up[lane + 1] + mid[lane + 1] + down[lane + 1];
    float left = __shfl_up_sync(~0u, mine, 1), right = __shfl_down_sync(~0u, mine, 1);
    if (lane == 0) left = up[0] + mid[0] + down[0];
    if (lane == 31) right = up[33] + mid[33] + down[33];
    if (c0 + lane < cols) out[size_t(r) * cols + c0 + lane] = (left + mine + right) / 9;
  }
}

cudaError_t launch_blur(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  const int high = 64;
  blur<<<dim3((cols + 127) / 128, (rows + high - 1) / high), 128, 0, stream>>>(in, out, rows, cols, high);
  return cudaGetLastError();
}
