// Whole tiles and parts
//
// Goal: Four blocks share the work of five tiles evenly, so that some tiles are cut. Say how many times a block adds with
// atomicAdd, because it has a part of a tile only.
#include "tilewise/puzzle.hpp"

// Five tiles, each a sum of 12 words. Block b adds the words 15 b to 15 b + 14; to keep it short, it's one thread.
__global__ void sum_tiles(const float* in, float* sums) {
  int i = 15 * blockIdx.x;
  const int end = i + 15;
  while (i < end) {
    const int tile = i / 12, first = i, tile_end = min(end, 12 * (tile + 1));
    float sum = 0;
    for (; i < tile_end; ++i) sum += in[i];
    if (i - first == 12)
      sums[tile] = sum;  // all of it is mine
    else
      atomicAdd(&sums[tile], sum);
  }
}

// It is launched as <<<4, 1>>>. Write a number in place of the question mark.
// calls of atomicAdd: ?

// ---- The check. Leave what follows as it is. ----

int main() {
  const std::vector<float> in = puzzle::values(60);
  const puzzle::Array<float> d_in("in", in), d_sums("sums", std::vector<float>(5, 0.0f));
  sum_tiles<<<4, 1>>>(d_in.data(), d_sums.data());
  puzzle::expect("sums", "there are 5 tiles", d_sums.host(), [&](std::size_t tile) {
    float sum = 0;
    for (std::size_t i = 12 * tile; i < 12 * tile + 12; ++i) sum += in[i];
    return sum;
  });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 3
// Hint: Draw 60 words in a row. Where do tiles end, and where do the blocks' shares end?
// Hint: Tiles end at 12, 24, 36, 48 and 60, shares at 15, 30, 45 and 60. A tile that has the end of a share inside is in
// two parts.
// Hint: The ends 15, 30 and 45 lie inside three different tiles. Each of these tiles has two parts, and the other two
// tiles are whole.
// Answer: atomics
// If 3: So many tiles are cut. But into how many parts each, and who adds them?
// If 4: That would be one part for each block. What does block 1 begin with, and what does it end with?
// If 5: That would be one for each tile. Are all of them cut, and does one block add all that a cut one gets?
// If 8: That's how often a block turns to a tile. Does it have only a part of it each time?
// If 2: So many tiles are whole. What about the others?
// If 7: A whole tile isn't added with atomicAdd. How many are there?
// If 10: Two for each tile. Is each of the five cut?
// If 60: That's one for each word. But the words are added up in a variable first.
// Show: atomics, blocks
// Notice: Four shares meet in three places, so there are three cuts at most, and two parts for each, however many tiles
// there are: what sharing costs grows with the number of blocks, not with that of tiles.
// GPU: On an H200, 4097 x 4097 matrices have 1,089 tiles. With a whole tile for each block, their product takes
// {ms 12_past_cublas "shape=4097 x 4097 x 4097 kernel=warp_tiles<128,128,16,16,8,2,2,3,8>"}; with the last tiles shared,
// {ms 12_past_cublas "shape=4097 x 4097 x 4097 kernel=past_cublas<128,128,16,16,8,2,2,3,8>"}.
