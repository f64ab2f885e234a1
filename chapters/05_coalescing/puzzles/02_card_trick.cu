// A card trick
//
// Goal: Each warp takes 32 words and deals them out like cards: lane 1 gets word 5, lane 2 word 10, and so on round the
// 32. How many sectors does a request touch now?
#include "tilewise/puzzle.hpp"

__global__ void deal(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = i % 32;
  const int first = i - lane;  // of the warp
  if (i < n) out[i] = in[first + 5 * lane % 32];
}

// Write a number in place of the question mark.
// sectors per request of the loads: ?

// ---- The check. Leave what follows as it is. ----

int main() {
  const int n = 1024;
  const std::vector<float> in = puzzle::values(n);
  const puzzle::Array<float> d_in("in", in), d_out("out", n);
  deal<<<n / 128, 128>>>(d_in.data(), d_out.data(), n);
  puzzle::expect("out", "n = 1024", d_out.host(), [&](std::size_t i) { return in[i / 32 * 32 + 5 * (i % 32) % 32]; });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 3
// Hint: Write down which words lanes 0 to 9 read. What happens after lane 6?
// Hint: % 32 keeps every lane within the warp's own 32 words. Does it leave one of them out, or give one to two lanes?
// Hint: 5 and 32 have no common divisor, so each of the 32 words is read once. What does the order of lanes cost?
// Answer: sectors_per_load
// If 20: Stride 5 would cost 20 if it went on. Here it turns back after word 31: which word does lane 7 read?
// If 32: A sector for each lane? All 32 words lie within 128 bytes.
// If 5: 32 neighbours that start inside a sector touch 5. Here the warp's first word is a multiple of 32: what starts
// there?
// If 1: One sector holds 8 words, and the lanes want 32 different ones.
// If 8: Do the lanes need any word beyond the 32 that start at `first`? How many bytes are these?
// Notice: A request moves the sectors that its lanes touch, each once, and L1 hands the words out in any order at no
// cost. So you can deal, mirror or shuffle within 32 aligned words as you like.
