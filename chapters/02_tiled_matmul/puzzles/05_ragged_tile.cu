// The last tile
//
// Goal: Each word gets its rank: how many words of its tile of 64 are smaller. The last tile isn't full, and its
// ranks rely on words that no thread has written: mend that.
#include "tilewise/puzzle.hpp"

__global__ void ranks(const float* in, float* rank, int n) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  const int i = blockIdx.x * 64 + t;
  if (i < n) tile[t] = in[i];
  __syncthreads();
  int smaller = 0;
  for (int k = 0; k < 64; ++k) {
    if (tile[k] < tile[t]) ++smaller;
  }
  if (i < n) rank[i] = smaller;
}

// ---- The check. Leave what follows as it is. ----

void judge(int n, float lowest) {
  std::vector<float> in = puzzle::values(n);
  for (float& word : in) word += lowest;
  const puzzle::Array<float> d_in("in", in), d_rank("rank", n);
  ranks<<<(n + 63) / 64, 64>>>(d_in.data(), d_rank.data(), n);
  puzzle::expect("rank", "n = " + std::to_string(n), d_rank.host(), [&](int i) {
    int smaller = 0;
    for (int k = i / 64 * 64; k < n && k < i / 64 * 64 + 64; ++k) smaller += in[k] < in[i];
    return smaller;
  });
}

int main() {
  judge(128, 0);
  judge(150, 1);
  judge(1, 1000);
  judge(65, -200);
  puzzle::count_from_here();
  judge(500, 10000);
  return puzzle::solved();
}

// Kind: repair
// Minutes: 4
// Hint: For n = 150, the last block has 22 words and 64 threads. What do the threads 22 to 63 write into the tile,
//   and what is read from it?
// Hint: In the product of two matrices a zero adds nothing to a sum. Here a zero would count as smaller: which word
//   never does?
// Hint: tile[t] = i < n ? in[i] : INFINITY; or let the loop end at the last word that the tile has.
// Limit: load_requests <= 16: each of the 8 blocks has 2 warps, and each of them loads its words once
// Notice: Fill a ragged tile with the word that changes nothing: 0 for a sum, 1 for a product, infinity for a minimum
//   and for this rank. The loop needs no test then, and no thread leaves before the barrier.
