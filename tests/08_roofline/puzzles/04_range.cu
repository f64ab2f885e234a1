// Read it once
//
// Goal: Each thread finds the range of a column, its largest element less its smallest. It walks down the column twice:
// make it load each word once.
#include "tilewise/puzzle.hpp"

// range[col] = the largest less the smallest of in[0][col] ... in[rows - 1][col]; in: rows x cols, rows is 1 or more.
__global__ void column_range(const float* in, float* range, int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= cols) return;
  float largest = in[col], smallest = in[col];
  for (int row = 0; row < rows; ++row) largest = max(largest, in[row * cols + col]);
  for (int row = 0; row < rows; ++row) smallest = min(smallest, in[row * cols + col]);
  range[col] = largest - smallest;
}

// ---- The check. Leave what follows as it is. ----

int main() {
  struct Shape {
    int rows, cols;
  };
  for (const auto [rows, cols] : {Shape{3, 5}, {1, 130}, {33, 1}, {50, 128}}) {  // the last is counted
    std::vector<float> in = puzzle::values(rows * cols);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] += i % cols % 3 == 0 ? 1000 : i % cols % 3 == 1 ? -1000 : 0;
    const puzzle::Array<float> d_in("in", in), range("range", cols);
    puzzle::count_from_here();
    column_range<<<(cols + 127) / 128, 128>>>(d_in.data(), range.data(), rows, cols);
    puzzle::expect("range", "rows = " + std::to_string(rows) + ", cols = " + std::to_string(cols), range.host(),
                   [&](std::size_t col) {
                     float largest = in[col], smallest = in[col];
                     for (int row = 0; row < rows; ++row) {
                       largest = in[row * cols + col] > largest ? in[row * cols + col] : largest;
                       smallest = in[row * cols + col] < smallest ? in[row * cols + col] : smallest;
                     }
                     return largest - smallest;
                   });
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 3
// Hint: What would you do if you walked down the column yourself, with paper for two numbers?
// Hint: One loop can keep both numbers: load the element into a variable and compare it with each of them.
// Hint: for (int row = 1; ...) { const float x = in[row * cols + col]; largest = max(largest, x); smallest = ... }
// Limit: load_words <= 6528: 50 x 128 words, each once, and at most the first row again
// Show: load_words, load_sectors
// Notice: The second walk was a second time the bytes. A cache may hold them for a short column; for a long one DRAM
//   delivers them twice.
