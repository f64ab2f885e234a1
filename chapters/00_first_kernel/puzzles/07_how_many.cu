// How many run?
//
// Goal: A picture of 1,100 pixels, in blocks of 128 threads. Say how many threads start, before you run it: write a
// number in place of the ? below.
#include "tilewise/puzzle.hpp"

// threads that start: ?

__global__ void invert(float* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  p[i] = 1 - p[i];
}

void launch_invert(float* p) {
  const int n = 1100;
  invert<<<(n + 127) / 128, 128>>>(p, n);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const std::vector<float> before = puzzle::values(1100);
  const puzzle::Array<float> p("p", before);
  launch_invert(p.data());
  puzzle::expect("p", "n = 1100", p.host(), [&](std::size_t i) { return 1 - before[i]; });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 2
// Hint: Two numbers stand between <<< and >>>. What is each of them here?
// Hint: A grid is made of whole blocks. How many blocks of 128 does it take to cover 1,100?
// Hint: (1100 + 127) / 128 in whole numbers, times 128.
// Answer: threads
// If 1100: That's the number of pixels. Is there a number of whole blocks of 128 that has exactly so many threads?
// If 1024: Eight blocks of 128 leave 1,100 - 1,024 = 76 pixels without a thread. What does the + 127 do?
// If 9: That's how many blocks there are. How many threads are in all of them?
// If 128: That's the threads of a single block. How many blocks are there?
// If 1227: That's 1,100 + 127, the number before it is divided by 128. What happens to the remainder?
// If 1280: That's ten blocks of 128. Would nine be enough?
// If 52: That many threads find no pixel and leave at the guard. They start, too, and so do all the others.
// Show: blocks, threads
// Notice: 9 blocks of 128 threads are 1,152. The last 52 have no pixel: they start, find i >= n, and leave.
