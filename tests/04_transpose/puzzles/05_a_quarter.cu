// A quarter of the threads
//
// Goal: The transpose is right, with a thread for each word. Let each thread move four words, so that a quarter of the
// threads is enough; the sectors stay as few as they are.
#include "tilewise/puzzle.hpp"

__global__ void transpose(const float* in, float* out, int rows, int cols) {  // in: rows x cols, out: cols x rows
  __shared__ float tile[32][33];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;

  if (r0 + ty < rows && c0 + tx < cols) tile[ty][tx] = in[(r0 + ty) * cols + c0 + tx];
  __syncthreads();
  if (c0 + ty < cols && r0 + tx < rows) out[(c0 + ty) * rows + r0 + tx] = tile[tx][ty];
}

void launch(const float* in, float* out, int rows, int cols) {
  const dim3 blocks((cols + 31) / 32, (rows + 31) / 32);  // a block for each tile
  const dim3 threads(32, 32);
  transpose<<<blocks, threads>>>(in, out, rows, cols);
}

// ---- The check. Leave what follows as it is. ----

void try_with(int rows, int cols) {
  const std::vector<float> in = puzzle::values(rows * cols);
  const puzzle::Array<float> d_in("in", in), d_out("out", rows * cols);
  launch(d_in.data(), d_out.data(), rows, cols);
  puzzle::expect("out", "rows = " + std::to_string(rows) + ", cols = " + std::to_string(cols), d_out.host(), cols, rows,
                 [&](std::size_t row, std::size_t col) { return in[col * cols + row]; });
}

int main() {
  try_with(64, 32);
  try_with(37, 41);
  try_with(1, 70);
  try_with(70, 1);
  puzzle::count_from_here();
  try_with(64, 96);
  return puzzle::solved();
}

// Kind: improve
// Minutes: 7
// Hint: Blocks of 32 x 8 threads leave the tile as it is. Which rows of the tile does a thread with ty = 3 have to load
// then?
// Hint: Rows ty, ty + 8, ty + 16 and ty + 24: a loop around the load, and another around the store, with the barrier
// between them. Each round has a guard of its own.
// Hint: for (int i = ty; i < 32; i += 8), with i in place of ty in the load and its guard, and again in the store and
// its guard; and threads(32, 8).
// Limit: threads <= 1536: each of them can move four words
// Limit: load_sectors = 768: a warp can load along a row of in
// Limit: store_sectors = 768: a warp can store along a row of out
// Show: threads, load_sectors, store_sectors
// Notice: The counts of memory are the same. But a thread's four loads needn't wait for one another, so more bytes can
// be on their way at any time.
// GPU: With 16384 x 16384 words, one word for each thread took
// {ratio 04_transpose "shape=16384 tile=32 kernel=transpose_padded" / "shape=16384 kernel=transpose_coarsened"} times
// as long as eight.
