// Enough under way
//
// Goal: An SM of an H200 has room for 64 warps, and while one waits for memory another can ask. With these blocks only
// 32 warps fit: choose a size of blocks that fills the SM.
#include "tilewise/puzzle.hpp"

__global__ void add(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

void launch(const float* a, const float* b, float* out, int n) {
  const int threads = 32;
  add<<<(n + threads - 1) / threads, threads>>>(a, b, out, n);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1, 1000, 20001}) {
    const std::vector<float> a = puzzle::values(n), b = puzzle::values(n, 2);
    const puzzle::Array<float> d_a("a", a), d_b("b", b), out("out", n);
    puzzle::count_from_here();
    launch(d_a.data(), d_b.data(), out.data(), n);
    puzzle::expect("out", "n = " + std::to_string(n), out.host(), [&](std::size_t i) { return a[i] + b[i]; });
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 2
// Hint: An SM holds at most 32 blocks at a time, and at most 64 warps, whichever comes first.
// Hint: A warp has 32 threads, so 32 blocks of one warp are 32 warps. Whole blocks have to fit, too: three blocks of
//   768 threads would be 72 warps, so only two are there.
// Hint: 64, 128, 256, 512 or 1024.
// Limit: resident_warps >= 64: an SM has room for 64 warps, if whole blocks fill it
// Limit: load_requests <= 1252: 20,001 elements are 626 whole warps with two loads each; a block of 48 threads has half
//   of a warp too much
// Show: resident_warps, threads_per_block
// Notice: By Little's law an H200's SM needs some 12,000 bytes under way to keep DRAM busy. Two loads of 4 bytes in
//   each of 2,048 threads are 16,384; in 1,024 threads they are 8,192.
// GPU: Loads of 16 bytes, one in each thread, on an H200: {ms 08_roofline "bandwidth what=DRAM, read: 8 warps, 1 load"}
//   for 512 MB with 8 warps per SM, {ms 08_roofline "bandwidth what=DRAM, read: 64 warps, 1 load"} with 64.
