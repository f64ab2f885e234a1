// After a header
//
// Goal: A file starts with a header of 8 bytes, and doubles of 8 bytes each follow. How many sectors does a warp's
// request for 32 of these doubles touch?
#include "tilewise/puzzle.hpp"

__global__ void unpack(const double* file, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = file[1 + i];
}

// Write a number in place of the question mark.
// sectors per request of the loads: ?

// ---- The check. Leave what follows as it is. ----

int main() {
  const int n = 1024;
  const std::vector<double> file = puzzle::values<double>(1 + n);
  const puzzle::Array<double> d_file("file", file), d_out("out", n);
  unpack<<<n / 128, 128>>>(d_file.data(), d_out.data(), n);
  puzzle::expect("out", "n = 1024", d_out.host(), [&](std::size_t i) { return file[1 + i]; });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 2
// Hint: How many sectors would it be without a header, for words of 8 bytes?
// Hint: 32 x 8 bytes = 256 bytes, from byte 8 to byte 263. At which multiples of 32 do sectors start there?
// Hint: The first sector starts at byte 0, the last one at byte 256. Count them.
// Answer: sectors_per_load
// If 8: That is right for the stores, which start with a sector. Which sector does byte 263 lie in?
// If 4: 4 sectors are 128 bytes, 32 floats. A double is twice as long.
// If 5: For floats after a header, yes. A double is twice as long.
// If 10: Does each end cost a sector more? The first sector starts at byte 0, so it holds the first word and what
// follows it.
// If 16: A double at a multiple of 8 bytes never lies in two sectors, and neighbours share one.
// If 32: A sector holds four doubles, and these lie side by side.
// Notice: An offset costs one sector at most, however wide the words are: 9 instead of 8 here, 5 instead of 4 for
// floats. And the ninth isn't wasted: the next warp needs the rest of it.
