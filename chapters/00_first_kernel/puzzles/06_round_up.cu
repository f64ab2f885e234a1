// The last few pixels
//
// Goal: Launch as many blocks of 256 threads as n pixels need, whatever n is, and not one more. The kernel is right.
#include "tilewise/puzzle.hpp"

__global__ void darken(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] - 1;
}

void launch_darken(const float* in, float* out, int n) {
  const int blocks = n / 256;
  darken<<<blocks, 256>>>(in, out, n);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 1, 257, 5000, 1024}) {
    const std::vector<float> in = puzzle::values(n);
    const puzzle::Array<float> d_out("out", n), d_in("in", in);
    if (n == 1024) puzzle::count_from_here();
    launch_darken(d_in.data(), d_out.data(), n);
    puzzle::expect("out", "n = " + std::to_string(n), d_out.host(), [&](std::size_t i) { return in[i] - 1; });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: How much is 1000 / 256 in C++, and how many pixels do so many blocks cover?
// Hint: Whole numbers are divided downwards. Add something to n first, so that any remainder makes one block more, and
// no remainder doesn't.
// Hint: (n + 255) / 256 rounds up: (1024 + 255) / 256 is still 4, and (1025 + 255) / 256 is 5.
// Limit: blocks = 4: 1,024 pixels are 4 blocks of 256
// Limit: threads = 1024: a thread for each of 1,024 pixels
// Notice: (n + 255) / 256 and the guard in the kernel belong together: the one makes sure that there are enough threads,
// the other sends home those that are too many.
