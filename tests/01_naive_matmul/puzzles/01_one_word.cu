// One word for 32 lanes
//
// Goal: Each thread fills an element of a table with its row's label. For each load, a warp makes one request: how
// many sectors does it touch? Write the number in place of the question mark.
#include "tilewise/puzzle.hpp"

// sectors per request of the load: ?

__global__ void fill_rows(const float* label, float* out, int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) out[row * cols + col] = label[row];  // the load is label[row]
}

void launch_fill_rows(const float* label, float* out, int rows, int cols) {
  const dim3 threads(32, 8);  // 32 columns, 8 rows
  const dim3 blocks((cols + 31) / 32, (rows + 7) / 8);
  fill_rows<<<blocks, threads>>>(label, out, rows, cols);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const int rows = 24, cols = 64;
  const std::vector<float> label = puzzle::values(rows);
  const puzzle::Array<float> d_label("label", label), d_out("out", rows * cols);
  launch_fill_rows(d_label.data(), d_out.data(), rows, cols);
  puzzle::expect("out", "rows = 24, cols = 64", d_out.host(), rows, cols,
                 [&](std::size_t row, std::size_t) { return label[row]; });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 2
// Hint: Which threads make up a warp? In a block that is 32 threads wide, they are 32 neighbours of one row of it.
// Hint: In such a warp, which values do row and col have? Only one of the two is in label[row].
// Hint: All 32 lanes ask for the same word of 4 bytes. How many sectors of 32 bytes does one word touch?
// Answer: sectors_per_load
// If 32: That would be 32 lanes with words far apart. Which words do these 32 lanes want?
// If 4: 32 different words side by side are 128 bytes, so 4 sectors. That's what the store does; look at the load
//   again.
// If 8: A block has 8 rows, and so 8 labels. But a request belongs to a warp, not to a block.
// If 256: That's how many threads a block has. A request belongs to a warp: 32 of them.
// If 0: The label comes from memory, and memory sends whole sectors.
// Show: sectors_per_load, sectors_per_store
// Notice: Lanes that want the same word share it: one sector for 32 lanes. That's how the naive matrix product reads
//   A when threadIdx.x counts columns.
