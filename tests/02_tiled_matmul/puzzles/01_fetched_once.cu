// Fetched once per block
//
// Goal: Each of 256 houses adds up its distances to 256 shops. Blocks of 64 threads fetch the shops through a tile of
// 64: how many words do all threads together load from global memory?
#include "tilewise/puzzle.hpp"

constexpr int kTile = 64;  // shops in a tile, and threads in a block

// words loaded from global memory: ?

__global__ void all_distances(const float* house, const float* shop, float* sum, int shops) {
  __shared__ float tile[kTile];  // one for each block, shared by its threads
  const int i = blockIdx.x * kTile + threadIdx.x;
  const float mine = house[i];
  float all = 0;
  for (int first = 0; first < shops; first += kTile) {
    tile[threadIdx.x] = shop[first + threadIdx.x];
    __syncthreads();  // written before read
    for (int k = 0; k < kTile; ++k) all += fabsf(mine - tile[k]);
    __syncthreads();  // read before overwritten
  }
  sum[i] = all;
}

void launch_all_distances(const float* house, const float* shop, float* sum) {
  all_distances<<<256 / kTile, kTile>>>(house, shop, sum, 256);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const std::vector<float> house = puzzle::values(256), shop = puzzle::values(256, 2);
  const puzzle::Array<float> d_house("house", house), d_shop("shop", shop), d_sum("sum", 256);
  launch_all_distances(d_house.data(), d_shop.data(), d_sum.data());
  puzzle::expect("sum", "there are 256 houses and 256 shops", d_sum.host(), [&](std::size_t i) {
    float all = 0;
    for (const float at : shop) all += at < house[i] ? house[i] - at : at - house[i];
    return all;
  });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 5
// Hint: Two lines load from global memory, one before the loop and one in it. tile[k] is a read from shared memory,
//   and isn't counted here.
// Hint: In the loop, a thread loads one word per round. How many rounds does it take to fetch 256 shops, 64 at a
//   time?
// Hint: Each of the 256 threads loads one word before the loop, and 4 in it.
// Answer: load_words
// If 1024: That's what the loop loads, and it's right. Before the loop there is another load.
// If 65536: 256 x 256 words are what it takes without a tile. How many of the 256 shops does a thread fetch itself?
// If 65792: That's what it takes without a tile. How many of the 256 shops does a thread fetch itself?
// If 512: Each word once would be enough if all blocks shared a tile. But each block has a tile of its own, and fills
//   it itself.
// If 256: That's the houses, one for each thread. How often are the shops loaded?
// If 320: That's what one block loads. How many blocks are there?
// If 5120: That's bytes: a float is one word of 4 bytes.
// If 40: That's how many requests the warps make. A request of a warp loads 32 words.
// Show: load_words, load_requests, shared_wavefronts
// Notice: Each block loads the 256 shops once, and each of its 64 threads uses them: 4 x 256 words, where it would be
//   256 x 256 without a tile. A tile of 128 would halve these 1,024 words, but not the 256 of the houses.
