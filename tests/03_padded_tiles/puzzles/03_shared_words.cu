// Words in common
//
// Goal: A warp stores two rows of 32 words in shared memory, and loads from them three times; often several lanes want
// the same word. Say how many wavefronts the five requests take.
#include "tilewise/puzzle.hpp"

// wavefronts of the two stores and three loads: ?

__global__ void mix(const float* in, float* out) {  // one block of 32 threads
  __shared__ float s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  s[32 + t] = in[32 + t];
  __syncthreads();

  const float all = s[5];             // one word for all lanes
  const float four = s[t / 4];        // a word for every four lanes
  const float odd = s[32 * (t % 2)];  // one word for the even lanes, another for the odd ones
  out[t] = all + four + odd;
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const std::vector<float> in = puzzle::values(64);
  const puzzle::Array<float> d_in("in", in), d_out("out", 32);
  mix<<<1, 32>>>(d_in.data(), d_out.data());
  puzzle::expect("out", "n = 32", d_out.host(), [&](std::size_t i) { return in[5] + in[i / 4] + in[32 * (i % 2)]; });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 3
// Hint: Take the requests one by one: which different words does each want, and in which banks are they?
// Hint: A bank gives one word in a wavefront, to every lane that wants it. Only different words of one bank queue.
// Hint: s[5] is one word, s[0] to s[7] are 8 words in 8 banks. But words 0 and 32 are both in bank 0.
// Answer: shared_wavefronts
// If 5: One wavefront for each request. For one of the five that's not enough: look for two different words in one
// bank.
// If 3: That's the number of loads. The stores take wavefronts, too, and one of the loads takes more than one.
// If 4: If these are the loads alone, the two stores are missing.
// If 37: Are 31 of these wavefronts for s[5]? All lanes want the same word there, and its bank gives it to all of them
// at once.
// If 70: Lanes that want the same word don't wait for one another: its bank gives it to all of them at once.
// If 2: Those are the stores. Loads take wavefronts, too.
// If 1: Do you count only the wavefronts beyond the first of each request? The question is about all of them.
// Show: shared_wavefronts, shared_conflicts
// Notice: s[5] is a broadcast, one wavefront, and so are eight words for four lanes each. What counts is how many
// different words a bank is asked for, not how many lanes ask.
