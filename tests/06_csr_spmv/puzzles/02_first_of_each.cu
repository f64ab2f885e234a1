// The first of each row
//
// Goal: For each row we want the column of its first nonzero, or -1 if it has none. The kernel hasn't heard of empty
// rows.
#include "tilewise/puzzle.hpp"

__global__ void first_columns(const int* row_ptr, const int* col_index, int* first, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) first[row] = col_index[row_ptr[row]];
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int rows : {1000, 300, 1}) {
    const std::vector<int> length = puzzle::values<int>(rows, rows);
    std::vector<int> row_ptr(1, 0);
    for (const int n : length) row_ptr.push_back(row_ptr.back() + (rows == 1 ? 0 : n % 3));
    const std::vector<int> col_index = puzzle::values<int>(row_ptr.back() + 1);
    const std::vector<int> used(col_index.begin(), col_index.end() - 1), before(rows, 777);
    const puzzle::Array<int> d_row_ptr("row_ptr", row_ptr), d_col_index("col_index", used), d_first("first", before);
    first_columns<<<(rows + 127) / 128, 128>>>(d_row_ptr.data(), d_col_index.data(), d_first.data(), rows);
    puzzle::expect("first", "rows = " + std::to_string(rows), d_first.host(),
                   [&](std::size_t r) { return row_ptr[r] == row_ptr[r + 1] ? -1 : col_index[row_ptr[r]]; });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 3
// Hint: How can you see from row_ptr that a row has no nonzeros?
// Hint: An empty row begins where the next one begins. What does col_index hold at that place, and is it this row's?
// Hint: Where row_ptr[row] == row_ptr[row + 1], store -1, and read nothing.
// Notice: An empty row looks like any other until you read what isn't its own: a value of the next row, or, at the
// matrix's end, one that isn't there. A loop from begin to end gets this right by itself.
