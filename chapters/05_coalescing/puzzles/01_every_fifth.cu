// Every fifth word
//
// Goal: A weather station stores five numbers an hour, and we read only the temperatures. How many sectors does a
// warp's request for 32 of them touch?
#include "tilewise/puzzle.hpp"

// An hour: temperature, humidity, pressure, wind, rain.
__global__ void temperatures(const float* hours, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = hours[5 * i];
}

// A sector is 32 bytes that start at a multiple of 32. Write a number in place of the question mark.
// sectors per request of the loads: ?

// ---- The check. Leave what follows as it is. ----

int main() {
  const int n = 1024;
  const std::vector<float> hours = puzzle::values(5 * n);
  const puzzle::Array<float> d_hours("hours", hours), d_out("out", n);
  temperatures<<<n / 256, 256>>>(d_hours.data(), d_out.data(), n);
  puzzle::expect("out", "n = 1024", d_out.host(), [&](std::size_t i) { return hours[5 * i]; });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 2
// Hint: How many bytes is it from the word of lane 0 to the word of lane 1?
// Hint: From lane to lane it's 20 bytes. How many bytes do the 32 lanes span, then?
// Hint: They span 32 x 20 bytes = 640 bytes, and no gap between two words is as long as a sector. How many sectors are
// 640 bytes?
// Answer: sectors_per_load
// If 4: That is for 32 neighbours: 32 x 4 bytes = 128 bytes. These words lie further apart.
// If 5: 5 is the stride in words. How many bytes lie between the first lane's word and the last one's?
// If 32: That is a sector for each lane. But lanes 0 and 1 read bytes 0 to 3 and 20 to 23: whose sectors are these?
// If 160: That's how many words the lanes span. A sector holds several of them.
// If 640: That's how many bytes the lanes span. How long is a sector?
// If 21: One too many: the first word starts with a sector, and where does the last one of the 640 bytes end?
// Notice: Of the 640 bytes that travel, the warp uses 128. The next warp starts in a sector of its own, so no sector is
// shared: four fifths of the traffic are humidity, pressure, wind and rain.
