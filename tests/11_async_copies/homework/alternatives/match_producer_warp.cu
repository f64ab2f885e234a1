// A warp that fetches the next piece while seven others work on this one: it waits, and nobody waits for it.
#include "homework.cuh"

#include <cuda_pipeline.h>

constexpr int PIECE = 128;


// Warps 0 to 3 multiply, warp 4 only copies.
__global__ void match(const float* x, const float* pattern, float* score, int positions, int length) {
  __shared__ __align__(16) float xs[2][2 * PIECE], ps[2][PIECE];
  const int t = threadIdx.x, first = blockIdx.x * PIECE, words = positions + length - 1;
  const bool copies = t >= PIECE;
  const int lane = t - PIECE;
  const auto fetch = [&](int k0, int b) {
    if (!copies) return;
    for (int i = 4 * lane; i < PIECE; i += 128) {
      const int left = min(4, max(0, length - k0 - i));
      __pipeline_memcpy_async(&ps[b][i], left ? pattern + k0 + i : pattern, 16, 4 * (4 - left));
    }
    for (int i = 4 * lane; i < 2 * PIECE; i += 128) {
      const int left = min(4, max(0, words - first - k0 - i));
      __pipeline_memcpy_async(&xs[b][i], left ? x + first + k0 + i : x, 16, 4 * (4 - left));
    }
    __pipeline_commit();
  };
  fetch(0, 0);
  float sum = 0.0f;
  int b = 0;
  for (int k0 = 0; k0 < length; k0 += PIECE, b = !b) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k0 + PIECE < length) fetch(k0 + PIECE, !b);
    if (!copies)
      for (int i = 0; i < PIECE; ++i) sum += ps[b][i] * xs[b][t + i];
  }
  if (!copies && first + t < positions) score[first + t] = sum;
}

cudaError_t launch_match(const float* x, const float* pattern, float* score, int positions, int length,
                         cudaStream_t stream) {
  match<<<(positions + PIECE - 1) / PIECE, PIECE + 32, 0, stream>>>(x, pattern, score, positions, length);
  return cudaGetLastError();
}

constexpr int W = 128, H = 64, RING = 8;

__global__ void blur(const float* in, float* out, int rows, int cols) {
  __shared__ float ring[RING][W + 2];
  const int t = threadIdx.x, c0 = blockIdx.x * W, r0 = blockIdx.y * H;
  const int height = min(H, rows - r0);
  // begins the copies of row r0 - 1 + i
  const auto fetch = [&](int i) {
    if (i < height + 2) {
      const int r = r0 - 1 + i;
      for (int j = t; j < W + 2; j += W) {
        const int c = c0 - 1 + j;
        const bool inside = r >= 0 && r < rows && c >= 0 && c < cols;
        __pipeline_memcpy_async(&ring[i % RING][j], inside ? &in[size_t(r) * cols + c] : in, 4, inside ? 0 : 4);
      }
    }
    __pipeline_commit();
  };
  for (int i = 0; i < RING - 1; ++i) fetch(i);
  for (int i = 0; i < height; ++i) {
    __pipeline_wait_prior(RING - 4);
    __syncthreads();
    fetch(i + RING - 1);
    float sum = 0;
    for (int d = 0; d < 3; ++d)
      for (int e = 0; e < 3; ++e) sum += ring[(i + d) % RING][t + e];
    if (c0 + t < cols) out[size_t(r0 + i) * cols + c0 + t] = sum / 9;
  }
}

cudaError_t launch_blur(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  const dim3 blocks((cols + W - 1) / W, (rows + H - 1) / H);
  blur<<<blocks, W, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
