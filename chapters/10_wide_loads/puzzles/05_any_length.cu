// Rows of any length
//
// Goal: Rows of `cols` words are copied into rows of `pitch` words, a multiple of four, and zeros fill what is left. Make
// it right for every cols, and keep the loads of 16 bytes where they are allowed.
#include "tilewise/puzzle.hpp"

// A block for each row.
__global__ void pad_rows(const float* in, float* out, int cols, int pitch) {
  const float* row = in + blockIdx.x * cols;
  for (int col = 4 * threadIdx.x; col < pitch; col += 4 * blockDim.x) {
    const float4 v = *reinterpret_cast<const float4*>(&row[col]);
    *reinterpret_cast<float4*>(&out[blockIdx.x * pitch + col]) = v;
  }
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const int rows = 7;
  for (const int cols : {61, 62, 63, 60, 1, 131, 512}) {
    if (cols == 512) puzzle::count_from_here();
    const int pitch = (cols + 3) / 4 * 4;
    const std::vector<float> in = puzzle::values(rows * cols);
    const puzzle::Array<float> d_in("in", in), d_out("out", rows * pitch);
    pad_rows<<<rows, 32>>>(d_in.data(), d_out.data(), cols, pitch);
    puzzle::expect("out", "cols = " + std::to_string(cols), d_out.host(), rows, pitch,
                   [&](std::size_t row, std::size_t col) { return int(col) < cols ? in[row * cols + col] : 0; });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 8
// Hint: At which byte does row 1 begin when cols is 61? When is that a multiple of 16 for all rows?
// Hint: If cols is a multiple of four, all rows begin at multiples of 16 bytes, and none ends inside a group of four. If it
// isn't, load the four words one by one, and zeros for those at cols or beyond. Stores may stay as they are.
// Hint: float4 v = {}; if (cols % 4 == 0) v = ... as now; else { if (col < cols) v.x = row[col]; if (col + 1 < cols) v.y =
// row[col + 1]; and so on }
// Limit: load_requests <= 28: 512 words of a row are four loads of 16 bytes for each lane, and there are 7 rows
// Show: load_requests, sectors_per_load
// Notice: 28 requests for 7 rows of 512 words; with 511 words they would be 112. It's not the array's address that decides
// but every row's: with cols = 62 each second row, with 61 three of four begin where a load of 16 bytes isn't allowed.
