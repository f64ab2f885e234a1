// Who still answers?
//
// Goal: A warp finds the largest value of each row, 0 for an empty row. Rows with fewer than 32 nonzeros come out wrong
// now and then: fix it.
#include "tilewise/puzzle.hpp"

// A block of 32 threads for each row.
__global__ void row_maxima(const int* row_ptr, const float* values, float* largest) {
  const int begin = row_ptr[blockIdx.x], end = row_ptr[blockIdx.x + 1];
  const int lane = threadIdx.x;
  if (begin + lane >= end) return;

  float most = 0;
  for (int e = begin + lane; e < end; e += 32) most = fmaxf(most, values[e]);
  for (int apart = 16; apart > 0; apart /= 2) most = fmaxf(most, __shfl_down_sync(0xffffffff, most, apart));
  if (lane == 0) largest[blockIdx.x] = most;
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int rows : {1, 60}) {
    std::vector<int> row_ptr(1, 0);
    for (int row = 0; row < rows; ++row) row_ptr.push_back(row_ptr.back() + (17 * row + 40) % 64);
    const std::vector<float> values = puzzle::values(row_ptr.back());
    const puzzle::Array<int> d_row_ptr("row_ptr", row_ptr);
    const puzzle::Array<float> d_values("values", values), d_largest("largest", rows);
    if (rows == 60) puzzle::count_from_here();
    row_maxima<<<rows, 32>>>(d_row_ptr.data(), d_values.data(), d_largest.data());
    puzzle::expect("largest", "rows = " + std::to_string(rows), d_largest.host(), [&](std::size_t r) {
      float most = 0;
      for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) most = values[e] > most ? values[e] : most;
      return most;
    });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: In a row of 20 nonzeros, which lanes reach the shuffles? Which lane does lane 4 ask first?
// Hint: A lane that has returned can't hand over anything. What could it hand over that changes no maximum, if it
// stayed?
// Hint: Let no lane return: without nonzeros a lane's loop does nothing, and `most` stays 0.
// Limit: load_requests <= 260: the lanes still share the work, 32 nonzeros per request
// Notice: A shuffle is for all lanes that its mask names, so all of them have to come. Lanes without work stay, with a
// value that changes nothing: 0 for a sum, and 0 here, too, since no value is below it.
