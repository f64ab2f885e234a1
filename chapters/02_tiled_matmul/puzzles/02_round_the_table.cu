// Round the table
//
// Goal: 128 threads sit round a table. Each puts a word down, and takes that of the thread 37 seats on. Some take it
// before it's there: mend that.
#include "tilewise/puzzle.hpp"

__global__ void pass_on(const float* in, float* out) {
  __shared__ float seat[128];
  const int t = threadIdx.x;
  const int i = blockIdx.x * 128 + t;
  seat[t] = in[i];
  out[i] = seat[(t + 37) % 128];
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int blocks : {1, 7}) {
    const std::vector<float> in = puzzle::values(blocks * 128);
    const puzzle::Array<float> d_in("in", in), d_out("out", in.size());
    pass_on<<<blocks, 128>>>(d_in.data(), d_out.data());
    puzzle::expect("out", "blocks = " + std::to_string(blocks), d_out.host(),
                   [&](std::size_t i) { return in[i / 128 * 128 + (i + 37) % 128]; });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 2
// Hint: Which thread writes seat[37], and which one reads it? Are the two in the same warp?
// Hint: The block's four warps run at their own pace. All of them must have written before any of them reads.
// Hint: Put __syncthreads(); between the two lines that use seat.
// Limit: load_requests <= 32: each of the 8 blocks has 4 warps, and each of them loads its words once
// Notice: A word in shared memory goes from one thread to another, so a barrier must stand between. __syncwarp()
//   isn't enough, as the two threads sit in different warps.
