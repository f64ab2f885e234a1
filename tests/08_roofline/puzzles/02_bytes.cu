// Count the bytes
//
// Goal: The other half of a roofline is the bytes. Predict how many sectors of 32 bytes this launch moves, loads and
// stores together.
#include "tilewise/puzzle.hpp"

// y += a x, for n elements, a multiple of 32.
__global__ void add_scaled(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

// sectors of the launch with n = 1,600, loads and stores: ?

// ---- The check. Leave what follows as it is. ----

int main() {
  const int n = 1600;
  const std::vector<float> x = puzzle::values(n), y = puzzle::values(n, 2);
  const puzzle::Array<float> d_x("x", x), d_y("y", y);
  puzzle::count_from_here();
  add_scaled<<<(n + 255) / 256, 256>>>(3, d_x.data(), d_y.data(), n);
  puzzle::expect("y", "n = 1600", d_y.host(), [&](std::size_t i) { return y[i] + 3 * x[i]; });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 2
// Hint: Write y[i] += a * x[i] without the +=.
// Hint: x[i] is loaded, y[i] is loaded, and y[i] is stored: three times 4 bytes for each element.
// Hint: 3 x 1,600 x 4 bytes, divided by 32.
// Answer: sectors
// If 400: That is two accesses for each element. The line has a third.
// If 200: That is one access for each element. The line has more.
// If 19200: Those are the bytes. A sector has 32 of them.
// If 4800: Those are the words. A sector has 32 bytes, and a word has 4.
// If 150: Those are the requests of whole warps. Each asks for more than one sector.
// If 800: That is four accesses for each element. x isn't written.
// If 672: There are 1,792 threads, but those past n touch no memory.
// Notice: 2 FLOP for 12 bytes is a sixth of a FLOP per byte. At an H200's peak of 4,814 GB/s that makes 802 GFLOP/s at
//   most, a bit more than one hundredth of what its arithmetic could do.
// GPU: A kernel with the same three accesses, c = a + b, takes an H200
//   {ms 08_roofline "vector_add key=vector_add kernel=vector_add"} for 256 MB.
