// Homework of chapter 11. `make homework-11` grades this file; `make homework-11 WATCH=1` does so whenever you save it.
// What the functions must do is in homework.cuh; tasks and hints are at the end of the chapter's page.
// You only need to add lines, not to change any.
#include "homework.cuh"

#include <cuda_pipeline.h>

// ---------------------------------------------------------------------------------------------- 1. warm-up
// A long pattern is compared with each place of a recording, a piece of the pattern at a time. The next piece is to
// travel while one is compared.

constexpr int PIECE = 128;  // words of the pattern, threads of a block, and places that it computes

// For each piece, a block needs PIECE words of the pattern and 2 * PIECE - 1 of x.
__global__ void match(const float* x, const float* pattern, float* score, int positions, int length) {
  __shared__ float xs[2][2 * PIECE], ps[2][PIECE];  // two buffers of each
  const int t = threadIdx.x, first = blockIdx.x * PIECE, words = positions + length - 1;  // of x
  const int pieces = (length + PIECE - 1) / PIECE;
  // Begins the copies of piece p into buffer p % 2.
  const auto fetch = [&](int p) {
    // TODO (about 6 lines): zeros stand in for what lies past the end of x and of the pattern
  };
  // TODO (1 line): before the first round

  float sum = 0.0f;
  for (int p = 0; p < pieces; ++p) {
    // TODO (3 lines): piece p has to be here, all of it, and piece p + 1 is to set out

    for (int i = 0; i < PIECE; ++i) sum += ps[p % 2][i] * xs[p % 2][t + i];
  }
  if (first + t < positions) score[first + t] = sum;
}

cudaError_t launch_match(const float* x, const float* pattern, float* score, int positions, int length,
                         cudaStream_t stream) {
  match<<<(positions + PIECE - 1) / PIECE, PIECE, 0, stream>>>(x, pattern, score, positions, length);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// A mean of 3 x 3 pixels. Let a block go down a strip of the picture while the next rows travel ahead of it.

// TODO (about 30 lines): a kernel

cudaError_t launch_blur(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  // TODO (about 3 lines): launch it
  return cudaGetLastError();
}
