// Lost on the way
//
// Goal: 1,000 threads add their numbers to one word, and most of them are lost. Let each of them count.
#include "tilewise/puzzle.hpp"

// *total is 0 at first.
__global__ void sum(const int* in, int* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) *total += in[i];
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 1, 300}) {
    const std::vector<int> in = puzzle::values<int>(n);
    const puzzle::Array<int> d_in("in", in), d_total("total", std::vector<int>(1, 0));
    sum<<<(n + 255) / 256, 256>>>(d_in.data(), d_total.data(), n);
    int all = 0;
    for (const int number : in) all += number;
    puzzle::expect("total", "n = " + std::to_string(n), d_total.host(), [&](std::size_t) { return all; });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 2
// Hint: *total += in[i] is three steps: read, add, write. What happens when two threads have read before either has written?
// Hint: The three steps must be one that no other thread can come between. CUDA has functions for that; their names begin
// with atomic.
// Hint: if (i < n) atomicAdd(total, in[i]);
// Show: atomics
// Notice: Right, and slow: the updates of one word are done one after the other, in L2. On an H200 each takes nearly two
// nanoseconds, in which DRAM could have sent 8,000 bytes.
