// Two edges
//
// Goal: Every pixel gets brighter by the number of its column. Pictures whose sides are multiples of the block come
// out right, the others don't: mend the kernel.
#include "tilewise/puzzle.hpp"

__global__ void fade(const float* in, float* out, int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows && col >= cols) return;  // past the edge: no pixel
  out[row * cols + col] = in[row * cols + col] + col;
}

// ---- The check. Leave what follows as it is. ----

void judge(int rows, int cols) {
  const std::vector<float> in = puzzle::values(rows * cols);
  const puzzle::Array<float> d_in("in", in), d_out("out", rows * cols);
  const dim3 threads(32, 8), blocks((cols + 31) / 32, (rows + 7) / 8);
  fade<<<blocks, threads>>>(d_in.data(), d_out.data(), rows, cols);
  puzzle::expect("out", "rows = " + std::to_string(rows) + ", cols = " + std::to_string(cols), d_out.host(), rows, cols,
                 [&](std::size_t row, std::size_t col) { return in[row * cols + col] + col; });
}

int main() {
  judge(16, 64);
  judge(13, 64);
  judge(16, 50);
  judge(1, 1);
  puzzle::count_from_here();
  judge(13, 50);
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: Which threads leave here? With 50 columns, take the one with row 0 and column 50.
// Hint: A pixel needs both coordinates to be inside. One of them outside is enough to leave.
// Hint: Not && but ||: if (row >= rows || col >= cols) return;
// Limit: load_requests <= 26: each of 13 rows of 50 pixels is the work of 2 warps
// Notice: With && nearly all threads stay, and a thread past the right edge writes the next row's first pixels. Sizes
//   that are multiples of the block hide it, so test with one that isn't, in each direction.
