// Left and right
//
// Goal: A sound stores its channels in turns, left, right, left, right; the kernel pulls them apart, and asks for each
// sector twice. Get by with 256 sectors of loads for 1,024 pairs.
#include "tilewise/puzzle.hpp"

__global__ void split(const float* sound, float* left, float* right, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  left[i] = sound[2 * i];
  right[i] = sound[2 * i + 1];
}

void launch(const float* sound, float* left, float* right, int pairs) {
  split<<<(pairs + 127) / 128, 128>>>(sound, left, right, pairs);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int pairs : {1000, 333, 1, 1024}) {
    const std::vector<float> sound = puzzle::values(2 * pairs);
    const puzzle::Array<float> d_sound("sound", sound), d_left("left", pairs), d_right("right", pairs);
    if (pairs == 1024) puzzle::count_from_here();
    launch(d_sound.data(), d_left.data(), d_right.data(), pairs);
    const std::string shape = "pairs = " + std::to_string(pairs);
    puzzle::expect("left", shape, d_left.host(), [&](std::size_t i) { return sound[2 * i]; });
    puzzle::expect("right", shape, d_right.host(), [&](std::size_t i) { return sound[2 * i + 1]; });
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 5
// Hint: How many sectors does the load for `left` touch, and how many of these does the load for `right` touch again?
// Hint: Fetch both words of a pair by one load of 8 bytes. Or use a thread for each word, which can tell from its
// number whether the word goes left or right.
// Hint: reinterpret_cast<const float2*>(sound)[i] is pair number i, with its words in .x and .y.
// Limit: load_sectors <= 256: 2,048 x 4 bytes are 256 sectors, each asked for once
// Limit: store_sectors <= 256: the two channels are 256 sectors, each written at once
// Show: load_requests, load_sectors
// Notice: The words are the same, and so is what DRAM sends: the second load found its sectors in L1. But L1 was asked
// for 8 + 8 sectors where 8 are enough.
// GPU: On an H200, a copy of 1 GiB with float2 takes {ms 05_coalescing "copies kernel=copy_one_word<float2>"}, with
// float {ms 05_coalescing "copies kernel=copy_one_word<float>"}.
