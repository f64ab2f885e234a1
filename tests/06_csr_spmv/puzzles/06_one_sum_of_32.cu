// One sum of 32
//
// Goal: Each lane of the warp has a part of its row's sum in `sum`, and lane 0 stores only its own part. Add up the 32
// parts by shuffles first.
#include "tilewise/puzzle.hpp"

// Four rows for each block of 128 threads, a warp for each row.
__global__ void row_sums(const int* row_ptr, const float* values, float* sums, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;  // the whole warp
  float sum = 0;
  for (int e = row_ptr[row] + lane; e < row_ptr[row + 1]; e += 32) sum += values[e];

  // TODO: __shfl_down_sync(0xffffffff, sum, d) is the `sum` of the lane d further on.

  if (lane == 0) sums[row] = sum;
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int rows : {4, 1, 50}) {
    std::vector<int> row_ptr(1, 0);
    for (int row = 0; row < rows; ++row) row_ptr.push_back(row_ptr.back() + (row == 0 ? 77 : 11 * row % 70));
    const std::vector<float> values = puzzle::values(row_ptr.back());
    const puzzle::Array<int> d_row_ptr("row_ptr", row_ptr);
    const puzzle::Array<float> d_values("values", values), d_sums("sums", rows);
    if (rows == 50) puzzle::count_from_here();
    row_sums<<<(rows + 3) / 4, 128>>>(d_row_ptr.data(), d_values.data(), d_sums.data(), rows);
    puzzle::expect("sums", "rows = " + std::to_string(rows), d_sums.host(), [&](std::size_t r) {
      float sum = 0;
      for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) sum += values[e];
      return sum;
    });
  }
  return puzzle::solved();
}

// Kind: write
// Minutes: 5
// Hint: If each lane adds the sum of the lane 16 further on, lanes 0 to 15 have 16 sums between them. What next?
// Hint: 16, then 8, 4, 2 and 1: each time half as many lanes have all there is, and at last lane 0.
// Hint: A loop whose d goes 16, 8, 4, 2, 1, and in it: sum += __shfl_down_sync(0xffffffff, sum, d);
// Limit: load_requests <= 300: the lanes share the work, 32 nonzeros per request
// Limit: atomics = 0: shuffles need no memory
// Notice: Five steps for 32 lanes, and no memory is touched: a shuffle hands over registers. At the end lane 0 has the
// whole sum, and the others have parts of it, so only lane 0 may store.
