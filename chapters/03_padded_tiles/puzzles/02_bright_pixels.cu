// Bright pixels
//
// Goal: Each thread counts the bright pixels in one row of a tile, and at every step all 32 lanes want a word of the
// same bank. Change one number, so that no bank conflict is left.
#include "tilewise/puzzle.hpp"

constexpr int kRow = 32;  // words from one row of the tile to the next

__global__ void count_bright(const float* picture, int* bright, int rows) {  // picture: rows x 32
  __shared__ float tile[32][kRow];
  const int t = threadIdx.x;
  const int r0 = blockIdx.x * 32;
  for (int i = 0; i < 32; ++i) tile[i][t] = r0 + i < rows ? picture[(r0 + i) * 32 + t] : 0;  // lanes along a row
  __syncthreads();

  int count = 0;
  for (int j = 0; j < 32; ++j) count += tile[t][j] >= 50;  // lanes down a column
  if (r0 + t < rows) bright[r0 + t] = count;
}

// ---- The check. Leave what follows as it is. ----

void try_with(int rows) {
  const std::vector<float> picture = puzzle::values(rows * 32);
  const puzzle::Array<float> d_picture("picture", picture);
  const puzzle::Array<int> d_bright("bright", rows);
  count_bright<<<(rows + 31) / 32, 32>>>(d_picture.data(), d_bright.data(), rows);
  puzzle::expect("bright", "rows = " + std::to_string(rows), d_bright.host(), [&](std::size_t row) {
    int count = 0;
    for (int col = 0; col < 32; ++col) count += picture[row * 32 + col] >= 50;
    return count;
  });
}

int main() {
  for (const int rows : {1, 77}) try_with(rows);
  puzzle::count_from_here();
  try_with(96);
  return puzzle::solved();
}

// Kind: improve
// Minutes: 2
// Hint: tile[t][j] is word kRow * t + j of the tile. Its bank is that number mod 32.
// Hint: With rows of 32 words, 32 * t adds nothing mod 32, so all lanes are in bank j. Which row length puts each lane
// one bank further than the one before?
// Hint: Rows of 33 words: 33 * t + j is in bank (t + j) mod 32. The 33rd word of a row is never used.
// Limit: shared_conflicts <= 0: 32 lanes can find 32 banks
// Limit: load_sectors <= 384: each pixel can be fetched once, in whole sectors
// Limit: shared_wavefronts <= 384: all lanes can work at every step
// Show: shared_wavefronts, shared_conflicts
// Notice: The rows go in without conflicts for any row length. For the columns every odd length will do; 33 is the
// shortest.
// GPU: In the lesson's running sums, the same change made the kernel
// {ratio 03_padded_tiles "walk kernel=running_sums_tile" / "walk kernel=running_sums_padded"} times as fast.
