// A far pixel
//
// Goal: Each thread notes its pixel's place in a picture, counted along the rows from the first pixel. In pictures
// with more than 4,294,967,296 pixels the far ones get a wrong place: mend that.
#include "tilewise/puzzle.hpp"

// Block b has 64 pixels of row first_row + b.
__global__ void note_place(size_t* place, unsigned first_row, unsigned cols) {
  const unsigned row = first_row + blockIdx.x;
  const unsigned col = threadIdx.x;
  const size_t at = row * cols + col;
  place[blockIdx.x * 64 + threadIdx.x] = at;
}

// ---- The check. Leave what follows as it is. ----

void judge(unsigned first_row, unsigned cols) {
  const puzzle::Array<size_t> place("place", 5 * 64);
  note_place<<<5, 64>>>(place.data(), first_row, cols);
  puzzle::expect("place", "first_row = " + std::to_string(first_row) + ", cols = " + std::to_string(cols), place.host(),
                 5, 64, [&](size_t row, size_t col) { return (first_row + row) * cols + col; });
}

int main() {
  judge(0, 64);
  judge(30000, 100000);
  judge(42948, 100000);
  judge(99995, 100000);
  puzzle::count_from_here();
  judge(999995, 1000003);
  return puzzle::solved();
}

// Kind: repair
// Minutes: 4
// Hint: A size_t has 64 bits. How many does the product row * cols have, and what decides that?
// Hint: A product of two 32-bit numbers has 32 bits in C++, whatever it is stored in. Make a factor longer before
//   they meet.
// Hint: const size_t at = size_t(row) * cols + col;
// Limit: store_requests <= 10: each thread notes its own place, 10 warps
// Notice: The conversion must come before the product: size_t(row * cols) is too late. An index of int wraps earlier
//   still, at 2,147,483,648: a float matrix of 46,341 x 46,341, which takes 8.6 GB and fits in many GPUs.
