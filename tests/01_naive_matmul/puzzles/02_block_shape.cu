// The shape of a block
//
// Goal: Each thread makes one pixel brighter, in blocks of 256 threads. A warp's load touches 8 sectors: give the
// block another shape, so that it's 4.
#include "tilewise/puzzle.hpp"

__global__ void brighten(const float* in, float* out, int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) out[row * cols + col] = in[row * cols + col] + 1;
}

void launch_brighten(const float* in, float* out, int rows, int cols) {
  const dim3 threads(4, 64);  // 4 columns, 64 rows
  const dim3 blocks((cols + threads.x - 1) / threads.x, (rows + threads.y - 1) / threads.y);
  brighten<<<blocks, threads>>>(in, out, rows, cols);
}

// ---- The check. Leave what follows as it is. ----

void judge(int rows, int cols) {
  const std::vector<float> in = puzzle::values(rows * cols);
  const puzzle::Array<float> d_in("in", in), d_out("out", rows * cols);
  launch_brighten(d_in.data(), d_out.data(), rows, cols);
  puzzle::check(cudaGetLastError());
  puzzle::expect("out", "rows = " + std::to_string(rows) + ", cols = " + std::to_string(cols), d_out.host(), rows, cols,
                 [&](std::size_t row, std::size_t col) { return in[row * cols + col] + 1; });
}

int main() {
  judge(70, 7);
  judge(5, 101);
  judge(1, 1);
  puzzle::count_from_here();
  judge(64, 96);
  return puzzle::solved();
}

// Kind: improve
// Minutes: 3
// Hint: Threads are numbered along x first. Which 32 threads of a block of 4 x 64 are its first warp?
// Hint: They are 8 rows of 4 pixels, and no two rows share a sector. A sector has 8 pixels, all of one row.
// Hint: Make the block at least 8 threads wide, better 32: dim3 threads(32, 8) has 256 threads, too.
// Limit: load_requests <= 192: 64 x 96 pixels are 192 warps of 32, if no warp has idle lanes
// Limit: load_words >= 6144: the GPU has to read all 6144 pixels
// Limit: sectors_per_load <= 4: 32 neighbouring pixels are 128 bytes, so 4 sectors
// Limit: sectors_per_store <= 4: 32 neighbouring pixels are 128 bytes, so 4 sectors
// Show: sectors_per_load, sectors_per_store
// Notice: The kernel is the same, the work is the same, and half as many sectors move. A warp's 32 threads are taken
//   along x first, so a block that is 32 wide makes every warp a piece of one row.
// GPU: An H200 takes {ms 01_naive_matmul "kernel=naive_matmul shape=4096 x 4096 x 4097 tile=8"} for lesson 01's
//   product in blocks of 8 x 8, and {ms 01_naive_matmul "kernel=naive_matmul shape=4096 x 4096 x 4097 tile=32"} in
//   blocks of 32 x 32 (M = N = 4096, K = 4097).
