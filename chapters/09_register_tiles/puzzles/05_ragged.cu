// A thread at the edge
//
// Goal: Each thread doubles four elements of a picture, eight rows apart. Where the rows are no multiple of 32, some
// threads have elements inside and others outside: make every size right.
#include "tilewise/puzzle.hpp"

// out = 2 * in, rows x cols. A block of 32 x 8 threads has 32 rows and 32 columns.
__global__ void twice(const float* in, float* out, int rows, int cols) {
  const int row = blockIdx.y * 32 + threadIdx.y;
  const int col = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows || col >= cols) return;
  float x[4];
  for (int i = 0; i < 4; ++i) x[i] = in[(row + 8 * i) * cols + col];
  for (int i = 0; i < 4; ++i) out[(row + 8 * i) * cols + col] = 2 * x[i];
}

// ---- The check. Leave what follows as it is. ----

int main() {
  struct Shape {
    int rows, cols;
  };
  for (const auto [rows, cols] : {Shape{32, 32}, {37, 5}, {64, 33}, {1, 1}, {24, 40}, {70, 100}}) {
    const std::vector<float> in = puzzle::values(rows * cols);
    const puzzle::Array<float> d_in("in", in), out("out", in.size());
    twice<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(d_in.data(), out.data(), rows, cols);
    puzzle::expect("out", "rows = " + std::to_string(rows) + ", cols = " + std::to_string(cols), out.host(), rows, cols,
                   [&](std::size_t row, std::size_t col) { return 2 * in[row * cols + col]; });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 4
// Hint: What does the test at the top ask, and about how many of the four elements?
// Hint: It asks about the first one. Each of the others has a row of its own, which may be outside: ask again, both
//   where you load and where you store.
// Hint: if (row + 8 * i < rows) before each of the two.
// Notice: With one element per thread, a test at the top is enough. With several, each element needs its own. If the
//   kernel had a barrier, the test at the top would have to go as well: every thread must come to a barrier.
