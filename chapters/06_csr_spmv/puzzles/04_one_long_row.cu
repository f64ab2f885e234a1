// One long row
//
// Goal: A warp adds up 32 rows, a thread for each. 31 rows have 3 nonzeros, row 7 has 50: how many requests of loads
// does the warp make in all?
#include "tilewise/puzzle.hpp"

__global__ void row_sums(const int* row_ptr, const float* values, float* sums) {
  const int row = threadIdx.x;
  const int begin = row_ptr[row];
  const int end = row_ptr[row + 1];
  float sum = 0;
  for (int e = begin; e < end; ++e) sum += values[e];
  sums[row] = sum;
}

// It is launched as <<<1, 32>>>. Write a number in place of the question mark.
// requests of loads, of row_ptr and of values: ?

// ---- The check. Leave what follows as it is. ----

int main() {
  std::vector<int> row_ptr(1, 0);
  for (int row = 0; row < 32; ++row) row_ptr.push_back(row_ptr.back() + (row == 7 ? 50 : 3));
  const std::vector<float> values = puzzle::values(row_ptr.back());
  const puzzle::Array<int> d_row_ptr("row_ptr", row_ptr);
  const puzzle::Array<float> d_values("values", values), d_sums("sums", 32);
  row_sums<<<1, 32>>>(d_row_ptr.data(), d_values.data(), d_sums.data());
  puzzle::expect("sums", "rows = 32", d_sums.host(), [&](std::size_t r) {
    float sum = 0;
    for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) sum += values[e];
    return sum;
  });
  return puzzle::solved();
}

// Kind: predict
// Minutes: 3
// Hint: All lanes that load in the same step of the loop do so in one request. How many steps does the warp take?
// Hint: In steps 1 to 3 all 32 lanes load, from step 4 on lane 7 alone. When is the loop over for the warp?
// Hint: The longest row decides on the steps. And row_ptr is read twice before the loop begins.
// Answer: load_requests
// If 50: That is the loop. What does the warp load before it?
// If 51: Nearly. How many loads stand before the loop?
// If 5: That would do for 31 of the rows. Can the warp leave the loop while lane 7 is still in it?
// If 3: That would do for 31 of the rows, and leaves out row_ptr. Can the warp leave the loop while lane 7 is still in
// it?
// If 143: That's how many nonzeros there are. Does each lane make a request of its own, or the warp for all of its
// lanes?
// If 207: That's how many words are loaded. Does each lane make a request of its own, or the warp for all of its lanes?
// If 55: Do the 3 steps of the other lanes come on top? While they do them, what does lane 7 do?
// If 53: Do the 3 steps of the other lanes come on top? While they do them, what does lane 7 do?
// Notice: A warp is done when its longest row is done: in 47 of the 50 steps, one lane works and 31 wait. The same 143
// nonzeros in rows of 4 or 5 would need 5 steps.
// GPU: On an H200, a thread per row takes {ms 06_csr_spmv "matrix=zipf kernel=spmv_scalar type=float"} on a matrix with
// a few enormous rows; sharing out its nonzeros evenly takes
// {ms 06_csr_spmv "matrix=zipf kernel=spmv_balanced type=float"}.
