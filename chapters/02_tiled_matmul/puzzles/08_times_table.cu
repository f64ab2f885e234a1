// The times table
//
// Goal: Each element of a table is the product of its row's factor and its column's. A block of 16 x 16 threads loads
// 512 words, of which 32 are different: load each of these once per block.
#include "tilewise/puzzle.hpp"

__global__ void times_table(const float* a, const float* b, float* out, int rows, int cols) {
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int col = blockIdx.x * 16 + tx;
  const int row = blockIdx.y * 16 + ty;
  if (row < rows && col < cols) out[row * cols + col] = a[row] * b[col];
}

// ---- The check. Leave what follows as it is. ----

void judge(int rows, int cols) {
  const std::vector<float> a = puzzle::values(rows, 1), b = puzzle::values(cols, 2);
  const puzzle::Array<float> d_a("a", a), d_b("b", b), d_out("out", rows * cols);
  times_table<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(d_a.data(), d_b.data(), d_out.data(), rows,
                                                                          cols);
  puzzle::expect("out", "rows = " + std::to_string(rows) + ", cols = " + std::to_string(cols), d_out.host(), rows, cols,
                 [&](std::size_t row, std::size_t col) { return a[row] * b[col]; });
}

int main() {
  judge(16, 32);
  judge(37, 21);
  judge(1, 1);
  puzzle::count_from_here();
  judge(64, 48);
  return puzzle::solved();
}

// Kind: improve
// Minutes: 8
// Hint: Which words of a do the 256 threads of a block want, and which of b? Two shared arrays of 16 words can hold
//   them.
// Hint: One row of threads fetches the words of b, another one those of a, if there are such words. Then a barrier
//   that all reach, and then the product.
// Hint: __shared__ float as[16], bs[16]; if (ty == 0 && col < cols) bs[tx] = b[col]; with ty == 1, as[tx] becomes the
//   word of a at blockIdx.y * 16 + tx. After __syncthreads(), the element is as[ty] * bs[tx].
// Limit: load_words <= 384: a block needs 16 words of a and 16 of b, and there are 12 blocks
// Limit: load_requests <= 192: fetching should not take more requests than before; one thread alone makes one for
//   each word
// Limit: store_sectors <= 384: neighbouring threads store neighbouring words
// Show: load_words, load_requests, load_sectors, shared_wavefronts
// Notice: A sixteenth of the words, and the rest is in shared memory. But look at the wavefronts: each thread now
//   reads its two words there, and that is the same physical memory as L1. Words that are saved aren't yet time that is
//   saved.
// GPU: On an H200, tiles of 32 divide the words that a product of 4096 x 4096 matrices loads by 32. Its time goes
//   from {ms 02_tiled_matmul "kernel=naive_matmul shape=4096 x 4096 x 4096 tile=32"} to {ms 02_tiled_matmul
//   "kernel=tiled_matmul shape=4096 x 4096 x 4096 tile=32"}.
