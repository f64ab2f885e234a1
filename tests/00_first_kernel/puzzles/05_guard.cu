// The guard
//
// Goal: A picture of n pixels, and blocks of 256 threads: the last block has threads without a pixel, and they write past
// the end of the picture. Send them home.
#include "tilewise/puzzle.hpp"

__global__ void brighten(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + 1;  // TODO
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 256, 1}) {
    const std::vector<float> in = puzzle::values(n);
    const puzzle::Array<float> d_out("out", n), d_in("in", in);
    brighten<<<(n + 255) / 256, 256>>>(d_in.data(), d_out.data(), n);
    puzzle::expect("out", "n = " + std::to_string(n), d_out.host(), [&](std::size_t i) { return in[i] + 1; });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: Which values of i are there when n is 1,000?
// Hint: 4 blocks of 256 threads are 1,024 threads; the last 24 of them have an i that is n or more.
// Hint: Let those return before they touch memory, or touch memory only if (i < n).
// Limit: load_requests <= 48: every thread loads one pixel at most
// Notice: 24 threads of 1,024 did nothing. That costs next to nothing, and it makes the kernel right for every n.
