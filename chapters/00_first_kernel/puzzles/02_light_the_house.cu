// Light the house
//
// Goal: The house has six floors of 32 windows; each block lights one floor, each of its threads one window. Only the
// first floor is lit: light all six.
#include "tilewise/puzzle.hpp"

// blockIdx.x is the block's number, 0, 1, 2, ...: its floor. The windows of all floors lie one after the other.
__global__ void light(int* window) { window[blockIdx.x * 32 + threadIdx.x] = 1; }

void evening(int* window) {
  light<<<1, 32>>>(window);  // TODO: one of these numbers
}

// ---- The check. Leave what follows as it is. ----

int main() {
  puzzle::Array<int> window("window", 6 * 32);
  evening(window.data());
  puzzle::expect("window", "6 floors have 32 windows each", window.host(), 6, 32,
                 [](std::size_t, std::size_t) { return 1; });
  return puzzle::solved();
}

// Kind: write
// Minutes: 1
// Hint: The kernel is right. How many blocks does the launch start, and which floors are theirs?
// Hint: A block for each floor: the first number between <<< and >>> is the number of blocks.
// Hint: Six blocks of 32 threads are <<<6, 32>>>.
// Limit: blocks = 6: each block lights one floor
// Limit: launches = 1: one launch starts all blocks
// Show: blocks, threads
// Notice: 6 blocks of 32 threads are 192 threads. All blocks of a launch together are its grid.
