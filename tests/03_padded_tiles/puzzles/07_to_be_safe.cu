// To be on the safe side
//
// Goal: A block of 64 threads reverses a page of 1,024 words, and reserves 48 KB for that, to be on the safe side. So a
// multiprocessor holds 8 of these warps where it has room for 64; fill it.
#include "tilewise/puzzle.hpp"

__global__ void reverse_pages(const float* in, float* out) {  // a block of 64 threads per page
  extern __shared__ float page[];
  const int first = blockIdx.x * 1024;
  for (int w = threadIdx.x; w < 1024; w += 64) page[w] = in[first + w];
  __syncthreads();
  for (int w = threadIdx.x; w < 1024; w += 64) out[first + w] = page[1023 - w];
}

void reverse_all(const float* in, float* out, int pages) {
  const int bytes = 48 * 1024;
  reverse_pages<<<pages, 64, bytes>>>(in, out);  // bytes: of page
}

// ---- The check. Leave what follows as it is. ----

void try_with(int pages) {
  const std::vector<float> in = puzzle::values(pages * 1024);
  const puzzle::Array<float> d_in("in", in), d_out("out", pages * 1024);
  reverse_all(d_in.data(), d_out.data(), pages);
  puzzle::expect("out", "pages = " + std::to_string(pages), d_out.host(), pages, 1024,
                 [&](std::size_t page, std::size_t word) { return in[page * 1024 + 1023 - word]; });
}

int main() {
  try_with(1);
  puzzle::count_from_here();
  try_with(5);
  return puzzle::solved();
}

// Kind: improve
// Minutes: 4
// Hint: How many words of page does the kernel use? The third argument of <<<...>>> says how many bytes there are.
// Hint: An H200's multiprocessor has 228 KB for all its blocks, and each of them takes 1 KB more than it asks for. 228
// / 49 is 4 blocks, of 2 warps each. It can hold 32 blocks at most: how many bytes may each have?
// Hint: 1,024 words of 4 bytes: 1024 * sizeof(float).
// Limit: resident_warps >= 64: 32 blocks of 2 warps fit if none takes more than it uses
// Limit: load_sectors = 640: each word can be fetched once, in whole sectors
// Limit: store_sectors = 640: each word can be stored once, in whole sectors
// Show: resident_warps, shared_bytes_per_block
// Notice: With 4 KB a block, 228 / 5 = 45 blocks would fit, and 32 are the most that may run. Twice as much, 8 KB,
// would leave room for 25. More warps give more words on their way at once.
// GPU: The lesson's running sums took
// {ratio 03_padded_tiles "occupancy kernel=running_sums_padded bytes_per_block=32,768" / "occupancy kernel=running_sums_padded bytes_per_block=4,224"}
// times as long with 32,768 bytes a block as with 4,224.
