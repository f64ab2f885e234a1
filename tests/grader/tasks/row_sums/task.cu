// row_sums: the sum of each row of a matrix.
#include "tilewise/task.hpp"

/// sum[r] = A(r, 0) + A(r, 1) + ... + A(r, cols - 1) for 0 <= r < rows; A(r, c) is at [r * cols + c].
/// A: rows x cols floats in device memory, sum: rows floats, which do not overlap; rows is 1 to 1,048,576 and cols 0 to 65,536, their
/// product is below 2^31. A must not change; sum holds garbage before. The same bits come out in every run: add in a fixed
/// order. Pass `stream` on to each launch. Returns the error of the launch.
cudaError_t launch_row_sums(const float* A, float* sum, int rows, int cols, cudaStream_t stream = nullptr);

// ---- The grader's part.

TASK(row_sums) {
  title = "the sum of each row, with all lanes of a warp";
  sizes = {"rows", "cols"};
  buffers = [](int rows, int cols) { return Buffers{{"A", rows, cols}, {"sum", rows}}; };
  reference = [](const Floats& A, Floats& sum, int rows, int cols) {
    for (int r = 0; r < rows; ++r) {
      sum[r] = 0;
      for (int c = 0; c < cols; ++c) sum[r] += A(r, c);
    }
  };
  least_flops = [](int rows, int cols) { return double(rows) * max(cols - 1, 0); };
  same_bits = true;
  visible = {{1, 0}, {1, 1}, {3, 31}, {32, 32}, {5, 33}, {100, 70}, {2, 1000}};
  hidden = {{1, 90}, {1, 200}};
  counted_at = {256, 96};
  targets = {
      "sectors_per_load <= 4.2 (14 points): 32 neighbouring words are 4 sectors, so let a warp's lanes run along a row",
      "load_requests <= 800: 24,576 words are 768 requests, when each is loaded once",
      "blocks >= 8: one block uses one SM", "launches <= 1: one does it"};
  hints = {
      "If a thread adds up a row of its own, how far apart are the words that a warp loads at a time?",
      "A warp for each row: lane l adds up the columns l, l + 32, l + 64 ..., and the 32 sums are added in the end.",
      "for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d); then lane 0 has it"};
}
