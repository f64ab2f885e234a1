// Records of five
//
// Goal: A table with five long rows becomes a list of records of five words each: a transpose. Say how many sectors a
// request of its stores touches.
#include "tilewise/puzzle.hpp"

// sectors per request of the stores: ?

__global__ void to_records(const float* table, float* list, int cols) {  // table: 5 x cols, list: cols x 5
  const int col = blockIdx.x * blockDim.x + threadIdx.x;                 // neighbours in a warp: neighbours in a row
  const int row = blockIdx.y;
  if (col < cols) list[col * 5 + row] = table[row * cols + col];
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const int cols = 512;
  const std::vector<float> table = puzzle::values(5 * cols);
  const puzzle::Array<float> d_table("table", table), d_list("list", 5 * cols);
  to_records<<<dim3(cols / 128, 5), 128>>>(d_table.data(), d_list.data(), cols);
  puzzle::expect("list", "cols = 512", d_list.host(), cols, 5,
                 [&](std::size_t col, std::size_t row) { return table[row * cols + col]; });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 4
// Hint: A sector is 32 bytes. At which bytes of list do lanes 0, 1 and 2 of a warp write, in row 0?
// Hint: Neighbouring lanes write 20 bytes apart, so no sector between the first and the last is left out. How many
// bytes lie between the first lane's word and the last one's?
// Hint: Lane 31 writes at byte 31 * 20 = 620. The sectors from byte 0 to byte 623 are all touched: 624 / 32, rounded
// up.
// Answer: sectors_per_store
// If 32: Then no two lanes would write to the same sector. Lanes 0 and 1 write 20 bytes apart, and a sector has 32
// bytes.
// If 4: That's what 32 words side by side take, as they lie in table. In list they are five words apart.
// If 5: Each lane writes one word, and the next lane's is five words further on. Where is lane 31's?
// If 8: Count in bytes: 20 from lane to lane, 32 in a sector.
// If 16: Two lanes to each sector would mean 16 bytes from lane to lane. It's 20.
// If 640: Those would be bytes. How many sectors are they?
// If 19: Nearly. Is there a part of a sector at the end? It counts as a whole one.
// If 19.5: A part of a sector counts as a whole one.
// If 100: One request is one row's. All five rows together take five times as many.
// Show: sectors_per_store, sectors_per_load
// Notice: 32 records fill just these 20 sectors, and five requests, one for each row, all touch the 20: every sector is
// written five times. With eight words or more in a record it would be 32 sectors a request.
// GPU: With 16384 x 16384 words, where a store touches 32 sectors, the transpose took
// {ratio 04_transpose "shape=16384 kernel=transpose_strided_write" / "shape=16384 kernel=copy_matrix"} times as long as
// a copy with one word for each thread.
