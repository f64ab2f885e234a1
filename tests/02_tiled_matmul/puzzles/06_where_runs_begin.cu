// Where runs begin
//
// Goal: Mark each word that differs from the one before it, and the first word of all. A tile of 64 words has room
// for one more on its left: fetch that word, so that a block loads no more than 65.
#include "tilewise/puzzle.hpp"

__global__ void starts(const float* in, float* start, int n) {
  __shared__ float tile[1 + 64];  // tile[1 + t] = in[first + t], and tile[0] the word before them
  const int t = threadIdx.x;
  const int first = blockIdx.x * 64;
  if (first + t < n) tile[1 + t] = in[first + t];
  // TODO: tile[0]; before the very first word there is none, and -1 differs from every word
  __syncthreads();
  if (first + t < n) start[first + t] = tile[1 + t] != tile[t] ? 1 : 0;
}

// ---- The check. Leave what follows as it is. ----

void judge(int n) {
  std::vector<float> in = puzzle::values(n);
  for (float& word : in) word = int(word) / 34;            // 0, 1 or 2: runs of several words
  if (n > 128) in[64] = in[63], in[127] = 1, in[128] = 2;  // a run across two tiles, and one that begins with a tile
  if (n > 0) in[0] = 0;
  const puzzle::Array<float> d_in("in", in), d_start("start", n);
  starts<<<(n + 63) / 64, 64>>>(d_in.data(), d_start.data(), n);
  puzzle::expect("start", "n = " + std::to_string(n), d_start.host(),
                 [&](std::size_t i) { return i == 0 || in[i] != in[i - 1]; });
}

int main() {
  judge(64);
  judge(1);
  judge(193);
  puzzle::count_from_here();
  judge(500);
  return puzzle::solved();
}

// Kind: write
// Minutes: 5
// Hint: The word before the tile is in[first - 1]. It is one word, so how many threads should fetch it?
// Hint: Thread 0 gets a second job: if (t == 0) tile[0] = ...; which block has no word before its first?
// Hint: if (t == 0) tile[0] = first > 0 ? in[first - 1] : -1;
// Limit: load_words <= 507: 500 words, and one more for each block but the first
// Limit: load_requests <= 23: 16 warps load their words, and 7 times one of them a word more
// Notice: What a tile needs beyond its own words is called the halo: here one word for 64. It costs a request of its
//   own, with one lane at work, so large tiles pay less for it per word than small ones.
