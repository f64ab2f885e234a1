// expect: match efficiency requests of loads
// points: match 5..98
// Right, and by hand: loads into registers, stores after the piece. The task asks for asynchronous copies.
#include "homework.cuh"

constexpr int PIECE = 128;

__global__ void match(const float* x, const float* pattern, float* score, int positions, int length) {
  __shared__ float xs[2][2 * PIECE], ps[2][PIECE];
  const int t = threadIdx.x, first = blockIdx.x * PIECE, words = positions + length - 1;
  const int pieces = (length + PIECE - 1) / PIECE;
  const auto word = [&](const float* from, int at, int of) { return at < of ? from[at] : 0.0f; };
  ps[0][t] = word(pattern, t, length);
  xs[0][t] = word(x, first + t, words);
  xs[0][t + PIECE] = word(x, first + t + PIECE, words);
  __syncthreads();
  float sum = 0.0f;
  for (int p = 0; p < pieces; ++p) {
    const int next = (p + 1) * PIECE + t;
    const float a = word(pattern, next, length), b = word(x, first + next, words), c = word(x, first + next + PIECE, words);
    for (int i = 0; i < PIECE; ++i) sum += ps[p % 2][i] * xs[p % 2][t + i];
    ps[(p + 1) % 2][t] = a;
    xs[(p + 1) % 2][t] = b;
    xs[(p + 1) % 2][t + PIECE] = c;
    __syncthreads();
  }
  if (first + t < positions) score[first + t] = sum;
}

cudaError_t launch_match(const float* x, const float* pattern, float* score, int positions, int length,
                         cudaStream_t stream) {
  match<<<(positions + PIECE - 1) / PIECE, PIECE, 0, stream>>>(x, pattern, score, positions, length);
  return cudaGetLastError();
}
