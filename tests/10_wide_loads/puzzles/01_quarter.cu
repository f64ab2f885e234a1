// A quarter of what?
//
// Goal: Word by word, 4,096 words take 128 requests of loads, of four sectors each. By float4 it's a quarter of the
// requests: say how many sectors these touch in all.
#include "tilewise/puzzle.hpp"

// sectors of all loads together: ?

__global__ void negative(const float* in, float* out, int fours) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= fours) return;
  const float4 v = reinterpret_cast<const float4*>(in)[i];
  reinterpret_cast<float4*>(out)[i] = make_float4(99 - v.x, 99 - v.y, 99 - v.z, 99 - v.w);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const int fours = 1024;
  const std::vector<float> in = puzzle::values(4 * fours);
  const puzzle::Array<float> d_in("in", in), d_out("out", 4 * fours);
  negative<<<fours / 256, 256>>>(d_in.data(), d_out.data(), fours);
  puzzle::expect("out", "4,096 words", d_out.host(), [&](std::size_t i) { return 99 - in[i]; });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 2
// Hint: Does the kernel read fewer words than the one that takes them word by word?
// Hint: Each of the 32 requests asks for 32 lanes x 16 bytes. A sector is 32 bytes.
// Hint: 512 bytes side by side are 16 sectors, and there are 32 such requests.
// Answer: load_sectors
// If 128: That would be four sectors for each of the 32 requests. But how many bytes does such a request ask for now?
// If 32: That's the number of requests. How many sectors does each of them touch?
// If 16: That's one request. How many requests are there?
// If 1024: There are 1,024 threads with 16 bytes each. How many of these lie in one sector?
// If 4096: There are 4,096 words, but more than one of them lies in a sector.
// If 2048: 2,048 sectors would be 65,536 bytes. How many bytes are 4,096 words?
// Show: load_requests, load_sectors, sectors_per_load
// Notice: 32 requests in place of 128, and the same 512 sectors: all that a wide load saves is instructions. A request of 16
// sectors isn't worse than four of four, as long as all that it brings is used.
