// The negative
//
// Goal: Each byte of a picture becomes 255 less itself, and a thread does one byte. Get by with 32 requests of loads
// for 4,096 bytes instead of 128; the number of bytes is always a multiple of 4.
#include "tilewise/puzzle.hpp"

__global__ void negative(const unsigned char* in, unsigned char* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 255 - in[i];
}

void launch(const unsigned char* in, unsigned char* out, int n) { negative<<<(n + 127) / 128, 128>>>(in, out, n); }

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 4, 516, 4096}) {
    const std::vector<unsigned char> in = puzzle::values<unsigned char>(n);
    const puzzle::Array<unsigned char> d_in("in", in), d_out("out", n);
    if (n == 4096) puzzle::count_from_here();
    launch(d_in.data(), d_out.data(), n);
    puzzle::expect("out", "n = " + std::to_string(n), d_out.host(), [&](std::size_t i) { return 255 - in[i]; });
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 6
// Hint: How many bytes does one request of a warp move now? How many could it move with words of 4 bytes?
// Hint: uchar4 holds four bytes, .x to .w, and is loaded and stored at once. So n / 4 threads are enough.
// Hint: const uchar4 p = reinterpret_cast<const uchar4*>(in)[i]; and store a make_uchar4() the same way. i ends at n /
// 4, in the kernel and in the launch.
// Limit: load_requests <= 32: a request of 32 lanes x 4 bytes moves 128 bytes
// Limit: store_requests <= 32: the stores can be as wide as the loads
// Show: load_requests, sectors_per_load, store_requests
// Notice: The sectors were never the trouble: 32 bytes are 1 sector, and all of it was used. But each request moved so
// little that you needed four times as many of them. So pack bytes and halves.
