// Rarely
//
// Goal: The sum is right, but every element goes to *total. Let a thread add all of its elements first, so that it goes to
// *total once.
#include "tilewise/puzzle.hpp"

// 4 blocks of 128 threads, whatever n is. *total is 0 at first.
__global__ void sum(const int* in, int* total, int n) {
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    atomicAdd(total, in[i]);
  }
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1, 500, 513, 20000}) {
    const std::vector<int> in = puzzle::values<int>(n);
    const puzzle::Array<int> d_in("in", in), d_total("total", std::vector<int>(1, 0));
    if (n == 20000) puzzle::count_from_here();
    sum<<<4, 128>>>(d_in.data(), d_total.data(), n);
    int all = 0;
    for (const int number : in) all += number;
    puzzle::expect("total", "n = " + std::to_string(n), d_total.host(), [&](std::size_t) { return all; });
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 4
// Hint: Which memory is a thread's own, and needs no atomic?
// Hint: A variable of the thread is a register. Add to it in the loop, and to *total after the loop.
// Hint: int own = 0; then own += in[i]; in the loop, and atomicAdd(total, own); after it.
// Limit: atomics <= 512: one for each of the 4 x 128 threads
// Limit: load_sectors <= 2600: 20,000 words are 2,500 sectors of 32 bytes, if neighbouring lanes take neighbouring words
// Show: atomics, load_sectors
// Notice: The loads are as before, and what all threads fight for is touched 512 times in place of 20,000. By shuffles a warp
// can add its 32 sums first: then it's 16 times.
