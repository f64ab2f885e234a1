// What is left over
//
// Goal: The kernel adds 1 to n words, four per load, but n needn't be a multiple of four. Let it do the last words, too,
// and touch nothing beyond them.
#include "tilewise/puzzle.hpp"

__global__ void add_one(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int fours = n / 4;
  if (i < fours) {
    const float4 v = reinterpret_cast<const float4*>(in)[i];
    reinterpret_cast<float4*>(out)[i] = make_float4(v.x + 1, v.y + 1, v.z + 1, v.w + 1);
  }
  // TODO: up to three words are left
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 1001, 1022, 1023, 3, 1, 4095}) {
    if (n == 4095) puzzle::count_from_here();
    const std::vector<float> in = puzzle::values(n);
    const puzzle::Array<float> d_in("in", in), d_out("out", n);
    add_one<<<(n + 1023) / 1024, 256>>>(d_in.data(), d_out.data(), n);
    puzzle::expect("out", "n = " + std::to_string(n), d_out.host(), [&](std::size_t i) { return in[i] + 1; });
  }
  return puzzle::solved();
}

// Kind: write
// Minutes: 5
// Hint: Which words are left when n is 1,023? The float4s are 0 to 254.
// Hint: The words from 4 * fours to n - 1 are left. Let a thread each do one of them, as single floats, or one thread all.
// Hint: Take the words 4 * fours + i, for the threads whose word is before n: if (4 * fours + i < n) ...
// Limit: load_requests <= 40: 1,023 loads of 16 bytes are 32 requests, and at most three words are left for the tail
// Show: load_requests, load_words
// Notice: The tail costs one or two requests, however long the array is. Word by word, 4,095 words would have been 128
// requests: a quarter of the instructions for nearly all of the array, and a few lines more to write.
