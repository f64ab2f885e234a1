// A quarter turn
//
// Goal: A picture is turned to the left through a tile in shared memory, with loads of 16 bytes. The result is right, but
// shared memory works eight times as long as it must for the stores into the tile: end that.
#include "tilewise/puzzle.hpp"

// Blocks of 256 threads, one for 32 x 32 pixels. `out` has `width` rows of `height` pixels.
__global__ void turn_left(const float* in, float* out, int width, int height) {
  __shared__ float tile[32][32];  // a row for each column of the picture
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;

  const int x = threadIdx.x % 8 * 4, y = threadIdx.x / 8;  // eight lanes for each row of the picture
  const float4 v = *reinterpret_cast<const float4*>(&in[(y0 + y) * width + x0 + x]);
  tile[x][y] = v.x;
  tile[x + 1][y] = v.y;
  tile[x + 2][y] = v.z;
  tile[x + 3][y] = v.w;
  __syncthreads();

  const int lane = threadIdx.x % 32;
  for (int column = threadIdx.x / 32; column < 32; column += 8)  // the last column becomes the first row
    out[(width - 1 - x0 - column) * height + y0 + lane] = tile[column][lane];
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const int width = 96, height = 64;
  const std::vector<float> in = puzzle::values(width * height);
  const puzzle::Array<float> d_in("in", in), d_out("out", width * height);
  turn_left<<<dim3(width / 32, height / 32), 256>>>(d_in.data(), d_out.data(), width, height);
  puzzle::expect("out", "a picture of 96 x 64 pixels is turned", d_out.host(), width, height,
                 [&](std::size_t row, std::size_t col) { return in[col * width + width - 1 - row]; });
  return puzzle::solved();
}

// Kind: improve
// Minutes: 8
// Hint: In which bank is tile[x][y] when rows are 32 words long? Work it out for the first eight lanes.
// Hint: Eight lanes store into rows 0, 4, 8 ... 28, and four of such groups into columns y, y + 1, y + 2 and y + 3. If rows
// were a little longer, rows that are four apart would begin four banks apart.
// Hint: Rows of 33 words: four rows further is 4 x 33 = 132 words, four banks further. The tile is read word by word, so its
// rows may begin at any word.
// Limit: load_requests <= 48: 6 tiles, each loaded by 8 warps with one load of 16 bytes
// Limit: load_sectors <= 768: 96 x 64 words, eight to a sector, each fetched once
// Limit: store_sectors <= 768: 96 x 64 words, eight to a sector, each stored once
// Limit: shared_conflicts = 0: a store of 32 words finds 32 banks, if rows that are four apart begin four banks apart
// Show: shared_wavefronts, shared_conflicts
// Notice: From 1,728 wavefronts to 384. Here the pad is one: 4 x 33 mod 32 = 4, so eight lanes are four banks apart and the
// four rows of the picture fill the gaps. It would be wrong for a tile that is also read 16 bytes at a time.
// GPU: In lesson 04 a transpose of 16384 x 16384 through a tile of 32 x 32 takes an H200
// {ms 04_transpose "shape=16384 tile=32 kernel=transpose_tile"} with 32-way conflicts, and
// {ms 04_transpose "shape=16384 tile=32 kernel=transpose_padded"} with a pad of one.
