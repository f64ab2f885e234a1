// Four words behind a header
//
// Goal: Each thread doubles four words, with one load of 16 bytes, and the array begins with a header of four words. Say
// how many sectors a request of this load touches.
#include "tilewise/puzzle.hpp"

// sectors per request of a load: ?

__global__ void twice(const float* in, float* out, int fours) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= fours) return;
  const float* words = in + 4;  // behind the header
  const float4 v = reinterpret_cast<const float4*>(words)[i];
  reinterpret_cast<float4*>(out)[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const int fours = 1024;
  const std::vector<float> in = puzzle::values(4 + 4 * fours);
  const puzzle::Array<float> d_in("in", in), d_out("out", 4 * fours);
  twice<<<fours / 256, 256>>>(d_in.data(), d_out.data(), fours);
  puzzle::expect("out", "4,096 words follow the header", d_out.host(), [&](std::size_t i) { return 2 * in[4 + i]; });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 3
// Hint: How many bytes do the 32 lanes of a warp load together, and at which byte of the array do they begin?
// Hint: 32 lanes x 16 bytes = 512 bytes. They begin at byte 16, or a multiple of 512 after that. A sector is 32 bytes, and
// sectors begin at multiples of 32.
// Hint: The first 16 bytes are the second half of a sector, and the last 16 the first half of another. Between them lie
// 480 bytes of whole sectors.
// Answer: sectors_per_load
// If 16: 512 bytes do fill 16 sectors, if the first byte begins one. At which byte does a warp's first word lie here?
// If 4: 4 sectors are 128 bytes, enough for 32 lanes that load one word each. Here each lane loads four.
// If 5: That would be 32 lanes of one word each, beginning inside a sector. Here each lane loads four words.
// If 32: That would be a sector for each lane. But lanes are 16 bytes apart, so two of them can share a sector.
// If 128: There are 128 words in a request, but a sector holds eight of them.
// Show: load_requests, load_sectors, sectors_per_load
// Notice: A load of 16 bytes needs an address that 16 divides, and the header leaves that true. Sectors begin at multiples
// of 32, so each request pays for two halves: 17 sectors in place of 16. A header of eight words would cost nothing.
