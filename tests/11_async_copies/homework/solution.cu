// The homework of chapter 11, solved.
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
    const int i = p * PIECE + t;  // what isn't read may have any address; the last word's is a valid one
    __pipeline_memcpy_async(&ps[p % 2][t], &pattern[min(i, length - 1)], 4, i < length ? 0 : 4);
    for (int j = t; j < 2 * PIECE; j += PIECE) {
      const int at = first + p * PIECE + j;
      __pipeline_memcpy_async(&xs[p % 2][j], &x[min(at, words - 1)], 4, at < words ? 0 : 4);
    }
    __pipeline_commit();
  };
  fetch(0);

  float sum = 0.0f;
  for (int p = 0; p < pieces; ++p) {
    __pipeline_wait_prior(0);  // my copies of piece p are here; those of p + 1 haven't begun
    __syncthreads();           // everybody's are, and everybody is through with piece p - 1
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

// ---------------------------------------------------------------------------------------------- 2. core
// A mean of 3 x 3 pixels. Let a block go down a strip of the picture while the next rows travel ahead of it.

constexpr int STRIP = 128;   // columns of a block, a thread for each
constexpr int HEIGHT = 32;   // rows of a block
constexpr int STAGES = 5;    // rows in shared memory: three are in use, two on their way

// In round r, the groups of rows row0 - 1 to r + 2 have been closed. The latest may still travel, r + 1 may not.
__global__ void blur(const float* in, float* out, int rows, int cols) {
  __shared__ float stage[STAGES][STRIP + 2];  // stage[(r + 1) % STAGES][j] = in[r][col0 - 1 + j]
  const int t = threadIdx.x, col0 = blockIdx.x * STRIP, row0 = blockIdx.y * HEIGHT;
  const int end = min(row0 + HEIGHT, rows);
  const auto fetch = [&](int r) {
    for (int j = t; j < STRIP + 2 && r <= end; j += STRIP) {
      const int col = col0 - 1 + j;
      const bool inside = r >= 0 && r < rows && col >= 0 && col < cols;
      __pipeline_memcpy_async(&stage[(r + 1) % STAGES][j], inside ? &in[size_t(r) * cols + col] : in, 4, inside ? 0 : 4);
    }
    __pipeline_commit();  // a group per row, even an empty one
  };
  for (int r = row0 - 1; r <= row0 + 2; ++r) fetch(r);
  for (int r = row0; r < end; ++r) {
    __pipeline_wait_prior(1);  // all but row r + 2
    __syncthreads();           // everybody's copies are here, and everybody is through with row r - 2
    fetch(r + 3);              // where row r - 2 was
    float sum = 0.0f;
    for (int i = r; i < r + 3; ++i)
      for (int j = 0; j < 3; ++j) sum += stage[i % STAGES][t + j];
    if (col0 + t < cols) out[size_t(r) * cols + col0 + t] = sum / 9.0f;
  }
}

cudaError_t launch_blur(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  const dim3 blocks((cols + STRIP - 1) / STRIP, (rows + HEIGHT - 1) / HEIGHT);
  blur<<<blocks, STRIP, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
