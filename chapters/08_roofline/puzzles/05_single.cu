// Half of one is a double
//
// Goal: The picture is in float and the result is right, but some of the arithmetic is done in double, which every GPU
// does more slowly. Make all of it float.
#include "tilewise/puzzle.hpp"

__global__ void contrast(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  const float bright = 0.25 * x * x;
  out[i] = bright + x / 2.0 - 8;
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 1}) {
    const std::vector<float> in = puzzle::values(n);
    const puzzle::Array<float> d_in("in", in), out("out", n);
    puzzle::count_from_here();
    contrast<<<(n + 255) / 256, 256>>>(d_in.data(), out.data(), n);
    puzzle::expect("out", "n = " + std::to_string(n), out.host(),
                   [&](std::size_t i) { return 0.25f * in[i] * in[i] + in[i] * 0.5f - 8; });
#ifdef TILEWISE_SIMULATOR
    const auto in_double = tilewise::sim::last_counters().flop_double;
    puzzle::expect_that(in_double == 0, std::to_string(in_double) + " operations were done in double, for n = " +
                                            std::to_string(n) + ". What type does a number like 1.5 have in C++?");
#endif
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 2
// Hint: What type has a number with a point in it in C++, and what does a float become that meets it?
// Hint: 0.25 is a double, so x is converted to double, and so is all that follows. A number with an f after it is a
//   float.
// Hint: 0.25f * x * x, and x / 2.0f.
// Notice: The number of operations is the same; the unit that does them is another one. An H200 does half as many
//   operations per second in double as in float, an RTX 4090 one in 64, and each conversion is an instruction, too.
