// Four sums that don't wait
//
// Goal: Each thread adds up a column in four sums, so that an addition needn't wait for the one before. But some
// columns have a number of rows that is no multiple of four: make those right, too.
#include "tilewise/puzzle.hpp"

// total[col] = the sum of in[0][col] ... in[rows - 1][col]; in: rows x cols.
__global__ void column_sums(const float* in, float* total, int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= cols) return;
  float sum[4] = {};
  for (int row = 0; row < rows; row += 4) {
    for (int s = 0; s < 4; ++s) sum[s] += in[(row + s) * cols + col];
  }
  total[col] = sum[0] + sum[1] + sum[2] + sum[3];
}

// ---- The check. Leave what follows as it is. ----

int main() {
  struct Shape {
    int rows, cols;
  };
  for (const auto [rows, cols] : {Shape{8, 100}, {9, 5}, {10, 7}, {11, 64}, {1, 1}, {3, 33}, {43, 200}}) {
    const std::vector<float> in = puzzle::values(rows * cols);
    const puzzle::Array<float> d_in("in", in), total("total", cols);
    column_sums<<<(cols + 127) / 128, 128>>>(d_in.data(), total.data(), rows, cols);
    puzzle::expect("total", "rows = " + std::to_string(rows) + ", cols = " + std::to_string(cols), total.host(),
                   [&](std::size_t col) {
                     float sum = 0;
                     for (int row = 0; row < rows; ++row) sum += in[row * cols + col];
                     return sum;
                   });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 4
// Hint: Which rows does the last turn of the outer loop read if there are 9 of them?
// Hint: Rows 8, 9, 10 and 11. Either each load asks whether its row exists, or the loop ends with the last four whole
//   rows and a second loop adds the rest.
// Hint: for (int s = 0; s < 4; ++s) if (row + s < rows) ...
// Notice: An addition that needs the one before waits about four clocks for it; with four sums there is always one that
//   can start, and four loads can be under way. Counts don't show that, since the work is the same in another order.
// GPU: The same number of multiply-adds on an H200, 4 warps on each SM:
//   {ms 08_roofline "arithmetic what=4 warps per SM kernel=fma_chains<1>"} in one chain per thread,
//   {ms 08_roofline "arithmetic what=4 warps per SM kernel=fma_chains<4>"} in four.
