// Four slices
//
// Goal: Four warps each add up a quarter of the rows, and then their sums through shared memory. That takes 384
// wavefronts: bring them down to 48, with the same four slices.
#include "tilewise/puzzle.hpp"

// One block; 256 columns, eight for each lane. Slice s adds the rows s, s + 4, s + 8 ...
__global__ void column_sums(const float* in, float* sums, int rows) {
  __shared__ float part[3][256];
  const int lane = threadIdx.x % 32, slice = threadIdx.x / 32;
  float sum[8] = {};  // of the columns lane, lane + 32, lane + 64 ...
  for (int row = slice; row < rows; row += 4)
    for (int e = 0; e < 8; ++e) sum[e] += in[256 * row + lane + 32 * e];

  if (slice > 0)
    for (int e = 0; e < 8; ++e) part[slice - 1][8 * lane + e] = sum[e];
  __syncthreads();
  if (slice > 0) return;
  for (int e = 0; e < 8; ++e) {
    for (int s = 0; s < 3; ++s) sum[e] += part[s][8 * lane + e];
    sums[lane + 32 * e] = sum[e];
  }
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int rows : {61, 1, 3, 64}) {
    if (rows == 64) puzzle::count_from_here();
    const std::vector<float> in = puzzle::values(256 * rows);
    const puzzle::Array<float> d_in("in", in), d_sums("sums", 256);
    column_sums<<<1, 128>>>(d_in.data(), d_sums.data(), rows);
    puzzle::expect("sums", "rows = " + std::to_string(rows), d_sums.host(), [&](std::size_t col) {
      float sum = 0;
      for (int row = 0; row < rows; ++row) sum += in[256 * row + col];
      return sum;
    });
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 4
// Hint: In which banks do the 32 lanes store their sums e = 0? Word w lies in bank w % 32.
// Hint: 8 x lane has only four different remainders by 32. The lanes of a warp should have neighbouring words, and a lane's
// eight words may lie anywhere.
// Hint: part[slice - 1][32 * e + lane] where sums are stored, and part[s][32 * e + lane] where they are loaded.
// Limit: shared_wavefronts <= 48: three slices store eight words for each lane, and one slice loads them
// Limit: shared_wavefronts >= 32: the slices' sums are to meet in shared memory
// Limit: load_requests <= 512: 64 rows of 256 words are 512 requests
// Show: shared_wavefronts, shared_conflicts
// Notice: A lane adds what the same lane of the other slices has left, so any order of the words is right, and the one
// without conflicts costs nothing. sliced_tiles has it, too: sum e of thread t is at e x threads + t.
// GPU: On an H200, a product of 1024 x 1024 matrices takes
// {ms 12_past_cublas "shape=1024 x 1024 x 1024 kernel=warp_tiles<128,128,16,16,8,2,2,3,8>"} in 64 tiles without slices, and
// {ms 12_past_cublas "shape=1024 x 1024 x 1024 kernel=sliced_tiles<64,128,64,8,8,2,2,4,3>"} in 128 tiles with four slices
// each.
