// Count the arithmetic
//
// Goal: Half of a roofline is the arithmetic. Predict how many FLOP, floating-point operations, this launch does; a
// multiply-add counts as two.
#include "tilewise/puzzle.hpp"

// y = 2 x^3 + 3 x^2 + 4 x + 5, for each of n elements.
__global__ void curve(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  out[i] = ((2 * x + 3) * x + 4) * x + 5;
}

// FLOP of the launch with n = 1,000 in 8 blocks of 128 threads: ?

// ---- The check. Leave what follows as it is. ----

int main() {
  const int n = 1000;
  const std::vector<float> in = puzzle::values(n);
  const puzzle::Array<float> d_in("in", in), out("out", n);
  puzzle::count_from_here();
  curve<<<8, 128>>>(d_in.data(), out.data(), n);
  puzzle::expect("out", "n = 1000", out.host(), [&](std::size_t i) {
    const float x = in[i];
    return ((2 * x + 3) * x + 4) * x + 5;
  });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 2
// Hint: What does one element need? Go through the brackets from the inside.
// Hint: Each pair of brackets is a multiplication and an addition. And how many threads compute anything?
// Hint: 3 multiplications and 3 additions, for each of 1,000 elements.
// Answer: flops
// If 3000: Those are the multiply-adds. Each of them counts as two.
// If 6: That is one element. The launch has more of them.
// If 3: Those are the multiply-adds of one element.
// If 6144: All threads are in that number. Some of them return before they compute.
// If 3072: Those are the multiply-adds of all threads. Each counts as two, and some threads return before they compute.
// If 9000: Written out, with x * x * x, it would be that many. The brackets save some.
// Notice: 6 FLOP for each element, and 8 bytes: 4 that are read and 4 that are written. That is 0.75 FLOP per byte, and
//   an H200 needs about 14 for each byte before its arithmetic is the limit.
// GPU: With as many bytes, 16 multiply-adds for each element take an H200
//   {ms 08_roofline "roofline what=16 multiply-adds per element"}, and one takes
//   {ms 08_roofline "roofline what=1 multiply-add per element"}.
