// Louder
//
// Goal: Twice as loud: each sample of a sound times two, a thread for each. All blocks work on the first samples, and
// the others stay silent: give each thread of the whole grid an i of its own.
#include "tilewise/puzzle.hpp"

// gridDim.x blocks of blockDim.x threads, as many threads in all as the sound has samples.
__global__ void louder(const float* in, float* out) {
  const int i = threadIdx.x;  // TODO
  out[i] = 2 * in[i];
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const int shapes[][2] = {{3, 256}, {5, 64}, {7, 1}};
  for (const auto& [blocks, threads] : shapes) {
    const std::vector<float> in = puzzle::values(blocks * threads);
    const puzzle::Array<float> d_out("out", in.size()), d_in("in", in);
    louder<<<blocks, threads>>>(d_in.data(), d_out.data());
    const std::string shape = "gridDim.x = " + std::to_string(blocks) + ", blockDim.x = " + std::to_string(threads);
    puzzle::expect("out", shape, d_out.host(), [&](std::size_t i) { return 2 * in[i]; });
  }
  return puzzle::solved();
}

// Kind: write
// Minutes: 2
// Hint: threadIdx.x starts at 0 again in every block. Which samples are left for block 1?
// Hint: Block 0 takes the first blockDim.x samples, block 1 the next blockDim.x, and so on. How many samples come before
// those of block blockIdx.x?
// Hint: blockIdx.x * blockDim.x samples come before, and then there is threadIdx.x.
// Limit: load_requests <= 41: every thread loads one sample
// Notice: blockIdx.x * blockDim.x + threadIdx.x is the first line of most kernels: with blocks of 256, thread 3 of block 2
// has i = 2 * 256 + 3 = 515.
