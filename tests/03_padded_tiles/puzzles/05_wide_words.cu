// Four words at once
//
// Goal: Each lane adds up a row of the tile, four words at a time; but in rows of 33 words most float4 lie where none
// may begin, and the kernel ends with an error. Make it run, without bank conflicts.
#include "tilewise/puzzle.hpp"

constexpr int kRow = 33;  // words from one row of the tile to the next

__global__ void row_sums(const float* in, float* sums, int rows) {  // in: rows x 32
  __shared__ __align__(16) float tile[32][kRow];
  const int t = threadIdx.x;
  const int r0 = blockIdx.x * 32;
  for (int i = 0; i < 32; ++i) tile[i][t] = r0 + i < rows ? in[(r0 + i) * 32 + t] : 0;
  __syncthreads();

  float sum = 0;
  for (int j = 0; j < 32; j += 4) {
    const float4 w = *reinterpret_cast<const float4*>(&tile[t][j]);
    sum += w.x + w.y + w.z + w.w;
  }
  if (r0 + t < rows) sums[r0 + t] = sum;
}

// ---- The check. Leave what follows as it is. ----

void try_with(int rows) {
  const std::vector<float> in = puzzle::values(rows * 32);
  const puzzle::Array<float> d_in("in", in), d_sums("sums", rows);
  row_sums<<<(rows + 31) / 32, 32>>>(d_in.data(), d_sums.data(), rows);
  puzzle::expect("sums", "rows = " + std::to_string(rows), d_sums.host(), [&](std::size_t row) {
    float sum = 0;
    for (int col = 0; col < 32; ++col) sum += in[row * 32 + col];
    return sum;
  });
}

int main() {
  for (const int rows : {1, 50}) try_with(rows);
  puzzle::count_from_here();
  try_with(64);
  return puzzle::solved();
}

// Kind: repair
// Minutes: 5
// Hint: A float4 may only begin at a multiple of 16 bytes. Where does row 1 of the tile begin?
// Hint: So a row must be a multiple of 4 words. But with 32 words, all lanes begin in bank 0. Eight lanes are served
// together, each with 4 banks: eight groups of 4 banks are all 32, if no two lanes want the same group.
// Hint: Count a row in float4: 32 words are 8 of them, and 40 are 10. As with single words, the number must be odd, and
// 9 float4 are 36 words.
// Limit: shared_conflicts <= 0: eight lanes can find eight groups of four banks
// Limit: load_sectors <= 256: each word of in can be fetched once, in whole sectors
// Limit: shared_wavefronts <= 256: all lanes can work at every step
// Notice: A float4 for each of 32 lanes is 512 bytes, so the load takes 4 wavefronts at best, and they don't count as
// conflicts. Four words at once save instructions, not wavefronts.
// GPU: The lesson's running sums by float4 took
// {ratio 03_padded_tiles "widths kernel=running_sums_wide<float4> row_of_tile=32" / "widths kernel=running_sums_wide<float4> row_of_tile=36"}
// times as long with rows of 32 words as with rows of 36.
