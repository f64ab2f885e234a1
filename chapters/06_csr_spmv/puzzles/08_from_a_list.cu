// From a list to rows
//
// Goal: A matrix comes as a list in no order: nonzero e is in row row[e]. Let a thread per nonzero count it, in count[r
// + 1] where its row is r: running sums then turn the counts into row_ptr.
#include "tilewise/puzzle.hpp"

// count has rows + 1 elements, and all of them are 0 at first.
__global__ void count_rows(const int* row, int* count, int nonzeros) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < nonzeros) count[row[e]] += 1;  // TODO
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int nonzeros : {257, 1, 5000}) {
    const int rows = 100;  // as many as there are values
    const std::vector<int> row = puzzle::values<int>(nonzeros), none(rows + 1, 0);
    const puzzle::Array<int> d_row("row", row), d_count("count", none);
    if (nonzeros == 5000) puzzle::count_from_here();
    count_rows<<<(nonzeros + 127) / 128, 128>>>(d_row.data(), d_count.data(), nonzeros);
    std::vector<int> row_ptr = d_count.host(), wanted = none;
    for (const int r : row) ++wanted[r + 1];
    for (int r = 0; r < rows; ++r) row_ptr[r + 1] += row_ptr[r], wanted[r + 1] += wanted[r];
    puzzle::expect("row_ptr", "nonzeros = " + std::to_string(nonzeros), row_ptr,
                   [&](std::size_t r) { return wanted[r]; });
  }
  return puzzle::solved();
}

// Kind: write
// Minutes: 4
// Hint: What happens to a count when two threads read it at the same time, and then both write one more?
// Hint: atomicAdd(&x, 1) reads and writes in one go, so that no thread comes between. And whose count is count[0]?
// Hint: The address is &count[row[e] + 1].
// Limit: load_requests <= 160: each of 5,000 nonzeros is looked at once, 32 per request, and nothing else needs reading
// Notice: atomicAdd is right in whatever order the threads come. The shift by one makes row_ptr[0] the 0 that it must
// be, and the running sum up to count[r + 1] the place where row r ends.
