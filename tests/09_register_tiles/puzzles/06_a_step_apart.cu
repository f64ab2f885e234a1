// A step apart
//
// Goal: Each thread keeps the gains of 8 neighbouring columns in registers, for two rows. So its warp meets bank
// conflicts and wastes sectors: give each thread 8 other columns, and both are gone.
#include "tilewise/puzzle.hpp"

// out[row][col] = in[row][col] * gains[col], with 256 columns. A block of 32 x 4 threads has 8 rows.
__global__ void apply(const float* in, const float* gains, float* out) {
  __shared__ float all_gains[256];
  const int tx = threadIdx.x, ty = threadIdx.y;
  for (int col = ty * 32 + tx; col < 256; col += 128) all_gains[col] = gains[col];
  __syncthreads();
  float gain[8];
  for (int j = 0; j < 8; ++j) gain[j] = all_gains[8 * tx + j];
  for (int row = blockIdx.x * 8 + ty; row < blockIdx.x * 8 + 8; row += 4) {
    for (int j = 0; j < 8; ++j) {
      const int col = 8 * tx + j;
      out[row * 256 + col] = in[row * 256 + col] * gain[j];
    }
  }
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int rows : {8, 40}) {  // the last is counted
    const std::vector<float> in = puzzle::values(rows * 256), gains = puzzle::values(256, 2);
    const puzzle::Array<float> d_in("in", in), d_gains("gains", gains), out("out", in.size());
    puzzle::count_from_here();
    apply<<<rows / 8, dim3(32, 4)>>>(d_in.data(), d_gains.data(), out.data());
    puzzle::expect("out", "rows = " + std::to_string(rows), out.host(), rows, 256,
                   [&](std::size_t row, std::size_t col) { return in[row * 256 + col] * gains[col]; });
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 5
// Hint: Which words do threads 0, 1, 2 and 4 of a warp read while j is 0, and in which of the 32 banks do these lie?
// Hint: Words 0, 8, 16 and 32: thread 4 is in thread 0's bank again. Neighbouring threads should read neighbouring
//   words.
// Hint: Columns tx + 32 * j, where the gains are read and where the picture is.
// Limit: shared_conflicts <= 0: in no step should two threads of a warp want different words of one bank
// Limit: load_words <= 11520: the words of in, and the gains once for each block
// Limit: sectors_per_load <= 4: neighbouring threads should load neighbouring words of in, too
// Show: shared_wavefronts, sectors_per_load, sectors_per_store
// Notice: Neighbours in the warp, not in the thread, should be neighbours in memory. That frees the banks, and it fills
//   the sectors of in and out as well.
