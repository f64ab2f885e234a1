// No word to spare
//
// Goal: How far is each score below the best of its row? Write place(), which gives each word of the tile one of the
// 1,024 words of shared memory, so that neither rows nor columns have bank conflicts.
#include "tilewise/puzzle.hpp"

// Where in the tile the word of row i and column j lies; both are from 0 to 31.
__device__ int place(int i, int j) {
  return 0;  // TODO
}

__global__ void below_best(const float* score, float* below, int rows) {  // score and below: rows x 32
  __shared__ float tile[1024], best[32];
  const int t = threadIdx.x;
  const int r0 = blockIdx.x * 32;
  for (int i = 0; i < 32; ++i) tile[place(i, t)] = r0 + i < rows ? score[(r0 + i) * 32 + t] : 0;  // along row i
  __syncthreads();

  float most = 0;
  for (int j = 0; j < 32; ++j) most = fmaxf(most, tile[place(t, j)]);  // down column j
  best[t] = most;
  __syncthreads();

  for (int i = 0; i < 32; ++i)
    if (r0 + i < rows) below[(r0 + i) * 32 + t] = best[i] - tile[place(i, t)];
}

// ---- The check. Leave what follows as it is. ----

void try_with(int rows) {
  const std::vector<float> score = puzzle::values(rows * 32);
  const puzzle::Array<float> d_score("score", score), d_below("below", rows * 32);
  below_best<<<(rows + 31) / 32, 32>>>(d_score.data(), d_below.data(), rows);
  puzzle::expect("below", "rows = " + std::to_string(rows), d_below.host(), rows, 32,
                 [&](std::size_t row, std::size_t col) {
                   float most = 0;
                   for (int c = 0; c < 32; ++c) most = most < score[row * 32 + c] ? score[row * 32 + c] : most;
                   return most - score[row * 32 + col];
                 });
}

int main() {
  for (const int rows : {1, 45}) try_with(rows);
  puzzle::count_from_here();
  try_with(64);
  return puzzle::solved();
}

// Kind: write
// Minutes: 8
// Hint: 32 * i + j is a place of its own for each word. Rows are free of conflicts then, but where does column j lie?
// Hint: There's no room for padding, but a row may keep its 32 words in another order, and each row in a different one.
// Row i stays within words 32 * i to 32 * i + 31.
// Hint: Put column j at j ^ i (exclusive or), or at (j + i) % 32. For one i that takes all 32 values, and for one j,
// too.
// Limit: shared_conflicts <= 0: no row and no column needs a second wavefront
// Limit: shared_bytes_per_block <= 4224: 1,024 words and 32 maxima
// Limit: load_sectors <= 256: each score can be fetched once, in whole sectors
// Limit: store_sectors <= 256: each result can be stored once, in whole sectors
// Limit: shared_wavefronts <= 516: all lanes can work at every step
// Notice: This is a swizzle. It wastes no word, and rows stay aligned; the price is an instruction for each index.
// best[i] is one word for all lanes, a broadcast, so it costs one wavefront.
// GPU: In the lesson's running sums the swizzled tile took {ms 03_padded_tiles "walk kernel=running_sums_swizzled"} and
// the padded one {ms 03_padded_tiles "walk kernel=running_sums_padded"}; the plain one took
// {ratio 03_padded_tiles "walk kernel=running_sums_tile" / "walk kernel=running_sums_swizzled"} times as long.
