// The sides of a rectangle
//
// Goal: A times table, out[row][col] = u[row] * v[col], where each thread computes 16 elements: 16 rows and 1 column.
// Choose another rectangle of 16 elements, so that the threads load at most 2,048 words.
#include "tilewise/puzzle.hpp"

constexpr int kRows = 16, kCols = 1;  // of one thread
static_assert(kRows * kCols == 16, "each thread must have 16 elements");

// out: M x N. A thread has kRows rows and kCols columns, side by side.
__global__ void times_table(const float* u, const float* v, float* out, int M, int N) {
  const int row0 = (blockIdx.y * blockDim.y + threadIdx.y) * kRows;
  const int col0 = (blockIdx.x * blockDim.x + threadIdx.x) * kCols;
  float a[kRows], b[kCols];
  for (int i = 0; i < kRows; ++i) a[i] = row0 + i < M ? u[row0 + i] : 0;
  for (int j = 0; j < kCols; ++j) b[j] = col0 + j < N ? v[col0 + j] : 0;
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kCols; ++j)
      if (row0 + i < M && col0 + j < N) out[(row0 + i) * N + col0 + j] = a[i] * b[j];
  }
}

// ---- The check. Leave what follows as it is. ----

int main() {
  struct Shape {
    int M, N;
  };
  for (const auto [M, N] : {Shape{5, 3}, {37, 70}, {64, 64}}) {  // the last is counted
    const std::vector<float> u = puzzle::values(M), v = puzzle::values(N, 2);
    const puzzle::Array<float> d_u("u", u), d_v("v", v), out("out", M * N);
    const dim3 block(8, 4);
    const dim3 grid((N + 8 * kCols - 1) / (8 * kCols), (M + 4 * kRows - 1) / (4 * kRows));
    puzzle::count_from_here();
    times_table<<<grid, block>>>(d_u.data(), d_v.data(), out.data(), M, N);
    puzzle::expect("out", "M = " + std::to_string(M) + ", N = " + std::to_string(N), out.host(), M, N,
                   [&](std::size_t row, std::size_t col) { return u[row] * v[col]; });
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 2
// Hint: How many words does a thread load for its 16 elements?
// Hint: It loads as many words as its rectangle has rows and columns together: 17 now.
// Hint: Of all rectangles with 16 elements, the square has the shortest sides.
// Limit: load_words <= 2048: 64 x 64 elements are 256 threads with 16 each, and 8 words for each thread would do
// Show: load_words
// Notice: A thread with R rows and C columns loads R + C words for R x C products. 4 x 4 needs half a word for each
//   product, where one element per thread would need two.
// GPU: The matrix product of lesson 09 on an H200, 4096 x 4096 x 4096:
//   {ms 09_register_tiles "shape=4096 kernel=column_tiles<64,64,8,8>"} with a column of 8 elements per thread,
//   {ms 09_register_tiles "shape=4096 kernel=register_tiles<64,64,16,4,4>"} with 4 x 4.
