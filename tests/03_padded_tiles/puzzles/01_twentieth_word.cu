// Every twentieth word
//
// Goal: A warp puts 32 numbers into shared memory, 20 words apart, and takes them out again in reverse order. Say how
// many wavefronts its two requests take together.
#include "tilewise/puzzle.hpp"

// wavefronts of the store and the load together: ?

__global__ void reverse(const float* in, float* out) {  // one block of 32 threads
  __shared__ float room[32 * 20];
  const int t = threadIdx.x;
  room[20 * t] = in[t];
  __syncthreads();
  out[t] = room[20 * (31 - t)];
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const std::vector<float> in = puzzle::values(32);
  const puzzle::Array<float> d_in("in", in), d_out("out", 32);
  reverse<<<1, 32>>>(d_in.data(), d_out.data());
  puzzle::expect("out", "n = 32", d_out.host(), [&](std::size_t i) { return in[31 - i]; });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 3
// Hint: Word i is in bank i mod 32. In which banks are the words of lanes 0, 1, 2 and 3?
// Hint: A wavefront takes one word from each bank. Go on with 0, 20, 40, 60 ... mod 32 until a bank comes for the
// second time: how many lanes is that, and how often do 32 lanes go through it?
// Hint: The words lie in 8 different banks, so 32 / 8 of them are in each. A request takes as many wavefronts as its
// busiest bank has words, and there are two requests.
// Answer: shared_wavefronts
// If 2: One wavefront for each request: that takes 32 different banks. Lane 0 is in bank 0 and lane 1 in bank 20. Is
// there another lane in bank 0?
// If 4: Did you count both requests, the store and the load?
// If 40: 20 words apart doesn't mean 20 wavefronts. How many lanes have a word in bank 0?
// If 64: 32 wavefronts a request would mean that all 32 words lie in one bank. Lane 0 is in bank 0. In which is lane 1?
// If 32: 16 lanes in one bank for each request: then every second lane would be in bank 0. In which bank is lane 2?
// If 6: Do you count only the wavefronts beyond the first of each request? The question is about all of them.
// If 16: Is 8 the number of banks that are used? A request takes as many wavefronts as its busiest bank has words.
// Show: shared_wavefronts, shared_conflicts
// Notice: 20 and 32 are both multiples of 4, so four lanes share each bank that is used, and the other 24 banks do
// nothing. In general it's the largest power of two that divides the stride, 32 at most: 4 for 20, but 1 for 19 and 21.
// GPU: Loads from shared memory took
// {ratio 03_padded_tiles "strides kernel=window_sums<float> stride=20" / "strides kernel=window_sums<float> stride=21"}
// times as long with a stride of 20 words as with 21.
