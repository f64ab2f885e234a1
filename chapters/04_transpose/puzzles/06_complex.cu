// Complex numbers
//
// Goal: The conjugate transpose of a matrix of complex numbers: right, but a request of its stores touches 32 sectors.
// Let both sides touch whole sectors only, with two-way bank conflicts at most.
#include "tilewise/puzzle.hpp"

__global__ void conjugate(const float2* in, float2* out, int rows, int cols) {  // in: rows x cols, out: cols x rows
  const int col = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 32 + threadIdx.y;
  if (row >= rows || col >= cols) return;

  const float2 z = in[row * cols + col];
  out[col * rows + row] = make_float2(z.x, -z.y);
}

void launch(const float2* in, float2* out, int rows, int cols) {
  const dim3 blocks((cols + 31) / 32, (rows + 31) / 32);
  conjugate<<<blocks, dim3(32, 32)>>>(in, out, rows, cols);
}

// ---- The check. Leave what follows as it is. ----

void try_with(int rows, int cols) {
  const std::vector<float> words = puzzle::values(2 * rows * cols);
  std::vector<float2> in(rows * cols);
  for (int i = 0; i < rows * cols; ++i) in[i] = make_float2(words[2 * i], words[2 * i + 1]);
  const puzzle::Array<float2> d_in("in", in), d_out("out", rows * cols);
  launch(d_in.data(), d_out.data(), rows, cols);

  std::vector<float> real, imaginary;
  for (const float2& z : d_out.host()) {
    real.push_back(z.x);
    imaginary.push_back(z.y);
  }
  const std::string shape = "rows = " + std::to_string(rows) + ", cols = " + std::to_string(cols);
  puzzle::expect("out.x", shape, real, cols, rows,
                 [&](std::size_t row, std::size_t col) { return in[col * cols + row].x; });
  puzzle::expect("out.y", shape, imaginary, cols, rows,
                 [&](std::size_t row, std::size_t col) { return -in[col * cols + row].y; });
}

int main() {
  try_with(37, 41);
  try_with(1, 70);
  try_with(70, 1);
  puzzle::count_from_here();
  try_with(64, 96);
  return puzzle::solved();
}

// Kind: improve
// Minutes: 10
// Hint: As with floats: into a tile row by row, a barrier, out of it column by column. Where does each of the two
// guards belong?
// Hint: A float2 is two words, and 16 lanes are served together. Think of 16 banks of 8 bytes each: which row length,
// in float2, puts 16 rows into 16 different ones?
// Hint: __shared__ float2 tile[32][33]; load tile[ty][tx], wait at the barrier, and store tile[tx][ty] at row
// blockIdx.x * 32 + ty and column blockIdx.y * 32 + tx of out, each behind a guard of its own.
// Limit: load_sectors = 1536: a warp can load along a row of in
// Limit: store_sectors = 1536: a warp can store along a row of out
// Limit: shared_conflicts <= 768: two wavefronts in place of one are the most
// Show: sectors_per_load, sectors_per_store, shared_conflicts
// Notice: 32 float2 are 256 bytes, so 8 sectors a request and 2 wavefronts are the best there is. Rows of an odd length
// have no conflicts, as for floats, if you count in the unit that a lane moves: 33 float2.
