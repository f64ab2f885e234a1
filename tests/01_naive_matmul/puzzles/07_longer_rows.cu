// Longer rows
//
// Goal: Each thread adds up a row of 64 words, so a warp walks down 32 rows at once. Change the distance between
// rows, to at most 72 words, so that L1's banks give each request its words in one pass.
#include "tilewise/puzzle.hpp"

constexpr int kCols = 64;   // words in a row
constexpr int kPitch = 64;  // from the start of a row to the start of the next, in words
static_assert(kPitch >= kCols && kPitch <= kCols + 8, "a row has 64 words, and at most 8 more may stay unused");

// Words kCols to kPitch - 1 of a row aren't used.
__global__ void row_sums(const float* in, float* sum, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float all = 0;
  for (int col = 0; col < kCols; ++col) all += in[row * kPitch + col];
  sum[row] = all;
}

// ---- The check. Leave what follows as it is. ----

void judge(int rows) {
  const std::vector<float> in = puzzle::values(rows * kPitch);
  const puzzle::Array<float> d_in("in", in), d_sum("sum", rows);
  row_sums<<<(rows + 63) / 64, 64>>>(d_in.data(), d_sum.data(), rows);
  puzzle::expect_that(
      kPitch <= 72, "At most 8 words of a row may stay unused, and there are " + std::to_string(kPitch - kCols) + ".");
  puzzle::expect("sum", "rows = " + std::to_string(rows), d_sum.host(), [&](std::size_t row) {
    float all = 0;
    for (int col = 0; col < kCols; ++col) all += in[row * kPitch + col];
    return all;
  });
}

int main() {
  judge(1);
  judge(37);
  puzzle::count_from_here();
  judge(64);
  return puzzle::solved();
}

// Kind: improve
// Minutes: 3
// Hint: Lane i wants word i * kPitch + col. Which banks are that, if kPitch is 64? Word w is in bank w mod 32.
// Hint: All 32 words are in one bank, as 64 is a multiple of 32. From one row to the next, the bank should move on.
// Hint: With an odd pitch, 32 rows have 32 different banks: constexpr int kPitch = 65;
// Limit: load_data_passes <= 128: 2 warps make 64 requests each, and a request needs one pass if its words are in 32
//   banks
// Show: load_data_passes, sectors_per_load
// Notice: One unused word per row, and a request takes 1 pass where it took 32. It still touches as many sectors:
//   sectors count what moves, passes count how long L1 hands it out.
// GPU: The matrix product with threadIdx.x on the rows meets the same on an H200: {ms 01_naive_matmul
//   "kernel=naive_matmul_row_on_x shape=4096 x 4096 x 4096 tile=32"} with rows of 4096 words, {ms 01_naive_matmul
//   "kernel=naive_matmul_row_on_x shape=4096 x 4096 x 4097 tile=32"} with rows of 4097.
