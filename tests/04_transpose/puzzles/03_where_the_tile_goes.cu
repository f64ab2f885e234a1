// Where the tile goes
//
// Goal: Every tile is turned as it should be, and put in the wrong place. Put it where it belongs: both sides stay
// coalesced, and there are no bank conflicts.
#include "tilewise/puzzle.hpp"

// in: rows x cols, out: cols x rows, both multiples of 32. A block of 32 x 32 threads for each tile; blockIdx.x counts
// tiles along a row of in.
__global__ void transpose(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[32][33];  // tile[i][j] = in[r0 + i][c0 + j]
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;

  tile[ty][tx] = in[(r0 + ty) * cols + c0 + tx];
  __syncthreads();
  out[(r0 + ty) * rows + c0 + tx] = tile[tx][ty];
}

// ---- The check. Leave what follows as it is. ----

void try_with(int rows, int cols) {
  const std::vector<float> in = puzzle::values(rows * cols);
  const puzzle::Array<float> d_in("in", in), d_out("out", rows * cols);
  transpose<<<dim3(cols / 32, rows / 32), dim3(32, 32)>>>(d_in.data(), d_out.data(), rows, cols);
  puzzle::expect("out", "rows = " + std::to_string(rows) + ", cols = " + std::to_string(cols), d_out.host(), cols, rows,
                 [&](std::size_t row, std::size_t col) { return in[col * cols + row]; });
}

int main() {
  try_with(64, 64);
  try_with(32, 96);
  puzzle::count_from_here();
  try_with(96, 64);
  return puzzle::solved();
}

// Kind: repair
// Minutes: 4
// Hint: Take the tile with r0 = 0 and c0 = 32, at the top right. Where in out should its words be?
// Hint: out has as many rows as in has columns. The tile's first row in out is its first column in in, and the other
// way round.
// Hint: Exchange r0 and c0 in the store, and leave tx and ty as they are: row c0 + ty and column r0 + tx of out.
// Limit: load_sectors <= 768: a warp can load along a row of in
// Limit: store_sectors <= 768: a warp can store along a row of out
// Limit: shared_conflicts <= 0: that's what the 33rd word is for
// Show: sectors_per_load, sectors_per_store
// Notice: A transpose exchanges rows and columns twice: of the tiles, which r0 and c0 do, and inside the tile, which
// tile[tx][ty] does. tx stays the one that counts neighbours on both sides: 4 sectors a request.
// GPU: With 16384 x 16384 words this took {ms 04_transpose "shape=16384 tile=32 kernel=transpose_padded"}, and writing
// columns without a tile {ms 04_transpose "shape=16384 kernel=transpose_strided_write"}.
