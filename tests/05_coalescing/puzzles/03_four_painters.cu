// Four painters
//
// Goal: Four blocks paint a fence of n boards, and each board gets its painter's number. Right now every painter paints
// every board: share them out, a quarter each, with 256 sectors of loads for 2,048 boards.
#include "tilewise/puzzle.hpp"

__global__ void paint(const float* fence, float* painted, int* painter, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    painted[i] = fence[i] + 1;
    painter[i] = blockIdx.x;
  }
}

void launch(const float* fence, float* painted, int* painter, int n) { paint<<<4, 128>>>(fence, painted, painter, n); }

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 1, 2048}) {
    const std::vector<float> fence = puzzle::values(n);
    const puzzle::Array<float> d_fence("fence", fence), d_painted("painted", n);
    const puzzle::Array<int> d_painter("painter", n);
    if (n == 2048) puzzle::count_from_here();
    launch(d_fence.data(), d_painted.data(), d_painter.data(), n);
    const std::string shape = "n = " + std::to_string(n);
    puzzle::expect("painted", shape, d_painted.host(), [&](std::size_t i) { return fence[i] + 1; });
    int boards[4] = {};
    for (const int p : d_painter.host()) {
      puzzle::expect_that(p >= 0 && p < 4, "a board's painter is " + std::to_string(p) + ", and not one of 0 to 3");
      ++boards[p];
    }
    for (int p = 0; p < 4 && n == 2048; ++p)
      puzzle::expect_that(boards[p] == n / 4, "painter " + std::to_string(p) + " painted " + std::to_string(boards[p]) +
                                                  " of 2048 boards, not a quarter");
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 4
// Hint: Which boards does thread 0 of block 0 paint, and which does thread 0 of block 1?
// Hint: Start each thread at its number in the whole grid, and let it go on by as many boards as the grid has threads.
// Hint: A thread's number in the grid is blockIdx.x * blockDim.x + threadIdx.x, and the grid has gridDim.x * blockDim.x
// threads.
// Limit: load_sectors <= 256: 2,048 x 4 bytes are 256 sectors, each asked for once
// Limit: store_sectors <= 512: two arrays of 256 sectors, each sector written at once
// Show: load_sectors, store_sectors
// Notice: This is a grid-stride loop: in every round the lanes of a warp have 32 neighbours, 4 sectors, and the same
// 512 threads can do a fence of any length.
