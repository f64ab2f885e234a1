// The same word, again and again
//
// Goal: b has one number for each row. A view of it with the strides 1 and 0 has 256 x 1024 elements: along a row, the same
// number 1,024 times. How many sectors does a request of the kernel's loads touch?
#include "tilewise/puzzle.hpp"

// One thread for each element of out, 32 neighbours of a row in a warp.
__global__ void copy_view(const float* view, int row, int column, float* out, int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < rows && j < columns) out[i * columns + j] = view[i * row + j * column];
}

// The strides are in elements. Write a number in place of the question mark.
// sectors per request of the loads: ?

// ---- The check. Leave what follows as it is. ----

int main() {
  const int rows = 256, columns = 1024;
  const std::vector<float> b = puzzle::values(rows);
  const puzzle::Array<float> d_b("b", b), d_out("out", rows * columns);
  copy_view<<<dim3(columns / 32, rows / 8), dim3(32, 8)>>>(d_b.data(), 1, 0, d_out.data(), rows, columns);
  puzzle::expect("out", "256 x 1024", d_out.host(), [&](std::size_t k) { return b[k / columns]; });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 2
// Hint: Lane 0 has j = 0, lane 31 has j = 31. Which words of b do they want?
// Hint: j * 0 is 0 for all of them, and i is the same for all 32 lanes.
// Hint: All lanes want one word. In how many sectors can a word be?
// Answer: sectors_per_load
// If 4: That's for 32 neighbouring words. How far is it here from lane 0's word to lane 1's?
// If 32: That's a sector for each lane. But do two lanes want different words?
// If 0: The stride is 0, but the word has to come from somewhere.
// If 1024: That's how often a word is used. How many different words does one request want?
// Notice: A stride of 0 repeats a row or a column without storing it again. The reads cost 1 sector per request, and the array
// as a view takes 1,024 bytes instead of a megabyte. Writing to such a view would be a race: all threads own the same word.
