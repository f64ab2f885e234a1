// Ragged edges
//
// Goal: The tiles at the right and at the bottom reach past the edges of in, and so past those of out. Write the two
// guards that make the kernel right for every size.
#include "tilewise/puzzle.hpp"

__global__ void transpose(const float* in, float* out, int rows, int cols) {  // in: rows x cols, out: cols x rows
  __shared__ float tile[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int r0 = blockIdx.y * 16, c0 = blockIdx.x * 16;

  // TODO: not all threads have a word to load
  tile[ty][tx] = in[(r0 + ty) * cols + c0 + tx];
  __syncthreads();
  // TODO: not all threads have a word to store
  out[(c0 + ty) * rows + r0 + tx] = tile[tx][ty];
}

// ---- The check. Leave what follows as it is. ----

void try_with(int rows, int cols) {
  const std::vector<float> in = puzzle::values(rows * cols);
  const puzzle::Array<float> d_in("in", in), d_out("out", rows * cols);
  transpose<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(d_in.data(), d_out.data(), rows, cols);
  puzzle::expect("out", "rows = " + std::to_string(rows) + ", cols = " + std::to_string(cols), d_out.host(), cols, rows,
                 [&](std::size_t row, std::size_t col) { return in[col * cols + row]; });
}

int main() {
  try_with(32, 16);
  try_with(20, 25);
  try_with(1, 50);
  try_with(50, 1);
  try_with(7, 7);
  puzzle::count_from_here();
  try_with(64, 48);
  return puzzle::solved();
}

// Kind: write
// Minutes: 4
// Hint: Which row and which column of in does a thread load? And which row and column of out does it store, which has
// cols rows and rows columns?
// Hint: The row and column of in are r0 + ty and c0 + tx, those of out c0 + ty and r0 + tx. The two guards differ: a
// thread may have a word to load and none to store, or the other way round.
// Hint: if (r0 + ty < rows && c0 + tx < cols) before the load, and if (c0 + ty < cols && r0 + tx < rows) before the
// store.
// Limit: load_sectors <= 384: a warp can load along a row of in
// Limit: store_sectors <= 384: a warp can store along a row of out
// Notice: With 20 x 25 words, thread (tx, ty) = (3, 8) of the last block has no word to load, and yet it has one to
// store. That's why no thread may return before the barrier.
