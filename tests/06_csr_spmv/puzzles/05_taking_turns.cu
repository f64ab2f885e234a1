// Taking turns
//
// Goal: A warp adds up a long row, each of its 32 lanes a run of neighbours. The sums are right: now get them with 560
// sectors of loads for four rows of 1,024 nonzeros.
#include "tilewise/puzzle.hpp"

// A block of 32 threads for each row. The shuffles at the end add up the sums of the 32 lanes.
__global__ void row_sums(const int* row_ptr, const float* values, float* sums) {
  const int lane = threadIdx.x;
  const int begin = row_ptr[blockIdx.x], end = row_ptr[blockIdx.x + 1];
  const int run = (end - begin + 31) / 32;
  float sum = 0;
  for (int e = begin + lane * run; e < begin + (lane + 1) * run && e < end; ++e) sum += values[e];

  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (lane == 0) sums[blockIdx.x] = sum;
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const std::vector<int>& length :
       {std::vector<int>{0, 1, 31, 32, 33, 100, 1000}, {5}, {1024, 1024, 1024, 1024}}) {
    const int rows = int(length.size());
    std::vector<int> row_ptr(1, 0);
    for (const int n : length) row_ptr.push_back(row_ptr.back() + n);
    const std::vector<float> values = puzzle::values(row_ptr.back());
    const puzzle::Array<int> d_row_ptr("row_ptr", row_ptr);
    const puzzle::Array<float> d_values("values", values), d_sums("sums", rows);
    if (length[0] == 1024) puzzle::count_from_here();
    row_sums<<<rows, 32>>>(d_row_ptr.data(), d_values.data(), d_sums.data());
    puzzle::expect("sums", "rows = " + std::to_string(rows), d_sums.host(), [&](std::size_t r) {
      float sum = 0;
      for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) sum += values[e];
      return sum;
    });
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 4
// Hint: In the first step of the loop, how far apart are the words that the 32 lanes load?
// Hint: The lanes should take turns: lane 0 the first word, lane 1 the second ... and where does lane 0 go on after the
// 32?
// Hint: Start at begin + lane, go on by 32, and end at end. Then `run` isn't needed any more.
// Limit: load_sectors <= 560: four rows of 1,024 x 4 bytes are 512 sectors, and row_ptr takes a few
// Show: load_sectors
// Notice: Each lane adds up as many words as before, in as many steps. But now the 32 words of a step lie side by side,
// so a request asks for 4 sectors instead of 32.
// GPU: On an H200, adding up the rows of a matrix takes {ms 05_coalescing "sums kernel=row_sums_warp"} in this way, and
// {ms 05_coalescing "sums kernel=row_sums_thread"} with a thread per row, where the lanes also read words that lie far
// apart.
