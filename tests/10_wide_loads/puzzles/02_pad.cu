// A pad for wide loads
//
// Goal: A block keeps 32 rows of 32 words in shared memory; each thread adds up one row, four words per load. The launch
// ends with an error: make it right, and keep it free of bank conflicts.
#include "tilewise/puzzle.hpp"

__global__ void row_sums(const float* in, float* out) {
  __shared__ alignas(16) float tile[32][32 + 1];  // padded, so that lanes don't meet in one bank

  const int lane = threadIdx.x, first = blockIdx.x * 32;
  for (int row = 0; row < 32; ++row) tile[row][lane] = in[(first + row) * 32 + lane];
  __syncthreads();

  float sum = 0;
  for (int col = 0; col < 32; col += 4) {
    const float4 v = *reinterpret_cast<const float4*>(&tile[lane][col]);
    sum += v.x + v.y + v.z + v.w;
  }
  out[first + lane] = sum;
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int blocks : {1, 3}) {
    const int rows = 32 * blocks;
    const std::vector<float> in = puzzle::values(rows * 32);
    const puzzle::Array<float> d_in("in", in), d_out("out", rows);
    row_sums<<<blocks, 32>>>(d_in.data(), d_out.data());
    puzzle::expect("out", std::to_string(rows) + " rows of 32 words", d_out.host(), [&](std::size_t row) {
      float sum = 0;
      for (int col = 0; col < 32; ++col) sum += in[row * 32 + col];
      return sum;
    });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 4
// Hint: A load of 16 bytes needs an address that 16 divides. Row 0 begins at such an address. Which row is the first that
// doesn't?
// Hint: Rows are 33 words apart, which is 132 bytes. Choose a number of words whose bytes 16 divides. And then count banks:
// of a load of 16 bytes, eight lanes are served at a time.
// Hint: The pad has to be a multiple of four words. No pad at all puts the eight lanes into the same four banks; with four
// words, each lane begins four banks after the last.
// Limit: shared_conflicts = 0: eight lanes with 16 bytes each need 32 banks, and get them if their rows begin in the right ones
// Limit: shared_wavefronts = 256: for each of the four blocks 32 stores of a row, one wavefront each, and 8 loads of four
// Show: shared_wavefronts, shared_conflicts
// Notice: Eight lanes x 4 words = 32 banks. With rows of 36 words, lane r begins in bank 4r, so a load of 16 bytes takes
// its four wavefronts and no more. Lesson 03's pad of one is for loads of one word.
// GPU: In the lesson's product of 4096 x 4096 x 4096, loads of 16 bytes from shared memory take an H200 from
// {ms 10_wide_loads "shape=4096 kernel=wide_fetches<128,128,16,8,8>"} to
// {ms 10_wide_loads "shape=4096 kernel=wide_loads<128,128,16,8,8>"}.
