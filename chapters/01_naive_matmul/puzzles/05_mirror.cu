// The mirror
//
// Goal: This reverses each row of a picture. The result is right, but every request of a warp touches 32 sectors:
// bring it down to 4.
#include "tilewise/puzzle.hpp"

__global__ void mirror(const float* in, float* out, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;
  out[row * cols + cols - 1 - col] = in[row * cols + col];
}

void launch_mirror(const float* in, float* out, int rows, int cols) {
  const dim3 threads(32, 8);
  const dim3 blocks((rows + 31) / 32, (cols + 7) / 8);
  mirror<<<blocks, threads>>>(in, out, rows, cols);
}

// ---- The check. Leave what follows as it is. ----

void judge(int rows, int cols) {
  const std::vector<float> in = puzzle::values(rows * cols);
  const puzzle::Array<float> d_in("in", in), d_out("out", rows * cols);
  launch_mirror(d_in.data(), d_out.data(), rows, cols);
  puzzle::check(cudaGetLastError());
  puzzle::expect("out", "rows = " + std::to_string(rows) + ", cols = " + std::to_string(cols), d_out.host(), rows, cols,
                 [&](std::size_t row, std::size_t col) { return in[row * cols + cols - 1 - col]; });
}

int main() {
  judge(2, 5);
  judge(70, 7);
  judge(5, 101);
  judge(1, 1);
  puzzle::count_from_here();
  judge(64, 96);
  return puzzle::solved();
}

// Kind: improve
// Minutes: 4
// Hint: Take lanes 0 and 1 of a warp. How far apart are the two words that they load?
// Hint: threadIdx.x counts the lanes, and here it counts rows, which lie `cols` words apart. Let it count columns.
// Hint: Exchange .x and .y in the kernel's first two lines. Then the grid's x must cover the columns, and its y the
//   rows.
// Limit: load_requests <= 192: 64 x 96 pixels are 192 warps of 32, if no warp has idle lanes
// Limit: load_words >= 6144: the GPU has to read all 6144 pixels
// Limit: sectors_per_load <= 4: 32 neighbouring pixels are 128 bytes, so 4 sectors
// Limit: sectors_per_store <= 4: 32 neighbouring pixels are 128 bytes, so 4 sectors, in whichever order the lanes
//   take them
// Show: sectors_per_load, sectors_per_store
// Notice: The lanes store their 32 words backwards, and that costs no sector more: what counts is which sectors a
//   warp touches, not which lane wants which word.
// GPU: On an H200, lesson 01's matrix product with threadIdx.x on the rows takes {ms 01_naive_matmul
//   "kernel=naive_matmul_row_on_x shape=4096 x 4096 x 4096 tile=32"}, and with threadIdx.x on the columns {ms
//   01_naive_matmul "kernel=naive_matmul shape=4096 x 4096 x 4096 tile=32"}.
