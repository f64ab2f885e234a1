// How long is a row?
//
// Goal: The nonzeros of a CSR matrix lie row by row, and row r begins at number row_ptr[r]. Work out how many nonzeros
// each row has.
#include "tilewise/puzzle.hpp"

__global__ void lengths(const int* row_ptr, int* length, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  length[row] = row_ptr[row] - row_ptr[row - 1];
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int rows : {1000, 257, 1}) {
    const std::vector<int> length = puzzle::values<int>(rows);
    std::vector<int> row_ptr(1, 0);
    for (const int n : length) row_ptr.push_back(row_ptr.back() + n);
    const puzzle::Array<int> d_row_ptr("row_ptr", row_ptr), d_length("length", rows);
    lengths<<<(rows + 127) / 128, 128>>>(d_row_ptr.data(), d_length.data(), rows);
    puzzle::expect("length", "rows = " + std::to_string(rows), d_length.host(),
                   [&](std::size_t r) { return length[r]; });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 2
// Hint: Which element of row_ptr does row 0 read that isn't there?
// Hint: A row goes from where it begins to where the next row begins. Which of the two does the kernel read?
// Hint: Row r + 1 begins at row_ptr[r + 1], and that less row_ptr[r] is the length of row r.
// Notice: The last row has a next one, too: row_ptr has one element more than there are rows, and that one holds the
// number of all nonzeros. So no row is a special case.
