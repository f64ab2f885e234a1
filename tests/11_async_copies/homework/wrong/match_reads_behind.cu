// expect: match findings out-of-bounds
// points: match 5..80
// Copies what lies beyond the pattern and beyond x.
#include "homework.cuh"

#include <cuda_pipeline.h>

constexpr int PIECE = 128;

__global__ void match(const float* x, const float* pattern, float* score, int positions, int length) {
  __shared__ float xs[2][2 * PIECE], ps[2][PIECE];
  const int t = threadIdx.x, first = blockIdx.x * PIECE, words = positions + length - 1;
  const int pieces = (length + PIECE - 1) / PIECE;

  const auto fetch = [&](int p) {
    const int i = p * PIECE + t;
    __pipeline_memcpy_async(&ps[p % 2][t], &pattern[i], 4);
    for (int j = t; j < 2 * PIECE; j += PIECE) {
      const int at = first + p * PIECE + j;
      __pipeline_memcpy_async(&xs[p % 2][j], &x[at], 4);
    }
    __pipeline_commit();
  };
  fetch(0);

  float sum = 0.0f;
  for (int p = 0; p < pieces; ++p) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (p + 1 < pieces) fetch(p + 1);

    for (int i = 0; i < PIECE; ++i) sum += ps[p % 2][i] * xs[p % 2][t + i];
  }
  if (first + t < positions) score[first + t] = sum;
}

cudaError_t launch_match(const float* x, const float* pattern, float* score, int positions, int length,
                         cudaStream_t stream) {
  match<<<(positions + PIECE - 1) / PIECE, PIECE, 0, stream>>>(x, pattern, score, positions, length);
  return cudaGetLastError();
}
