// One pass
//
// Goal: Two kernels treat a picture one after the other, and what the first writes is read again by the second. Halve
// the sectors: reach 1,024.
#include "tilewise/puzzle.hpp"

__global__ void stretch(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 3;
}

__global__ void darken(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] < 40 ? 0 : in[i] - 40;
}

// out[i] = in[i], stretched and then darkened. between: room for n elements.
void treat(const float* in, float* between, float* out, int n) {
  const int blocks = (n + 255) / 256;
  stretch<<<blocks, 256>>>(in, between, n);
  darken<<<blocks, 256>>>(between, out, n);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 1, 4096}) {  // the last is counted
    const std::vector<float> in = puzzle::values(n);
    const puzzle::Array<float> d_in("in", in), between("between", n), out("out", n);
    puzzle::count_from_here();
    treat(d_in.data(), between.data(), out.data(), n);
    puzzle::expect("out", "n = " + std::to_string(n), out.host(),
                   [&](std::size_t i) { return in[i] * 3 < 40 ? 0 : in[i] * 3 - 40; });
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 4
// Hint: Which thread of the second kernel needs what which thread of the first one wrote?
// Hint: Each thread needs only what it wrote itself. That fits in a register, so one kernel can do both.
// Hint: const float x = in[i] * 3; out[i] = x < 40 ? 0 : x - 40; in one kernel, launched once.
// Limit: sectors <= 1024: 4,096 floats are 512 sectors, once for the loads and once for the stores
// Show: sectors, launches
// Notice: The arithmetic is the same, and half of the bytes are gone. Left of the roofline's corner the bytes decide
//   about the time, so work that joins a pass over memory is nearly free.
// GPU: For 256 MB an H200 takes {ms 08_roofline "roofline what=1 multiply-add per element"} with one multiply-add for
//   each element, and {ms 08_roofline "roofline what=16 multiply-adds per element"} with 16.
