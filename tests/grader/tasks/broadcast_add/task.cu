// broadcast_add: the sum of two views of any strides, as NumPy's a + b computes it.
#include "tilewise/task.hpp"

/// out[i * cols + j] = a[i * a_row + j * a_col] + b[i * b_row + j * b_col] for 0 <= i < rows and 0 <= j < cols.
/// a and b are views: their strides are in elements, from 0 to 65,536, and 0 repeats a row or a column. Each holds the floats from its
/// element 0, 0 to its element rows - 1, cols - 1, and nothing beyond them. out: rows x cols floats, garbage before; it overlaps neither.
/// rows and cols are 1 to 1,048,576, their product is below 2^31, and so is every position in a and b. a and b must not change.
/// Pass `stream` on to each launch. Returns the error of the launch.
cudaError_t launch_broadcast_add(const float* a, const float* b, float* out, int rows, int cols, int a_row, int a_col,
                                 int b_row, int b_col, cudaStream_t stream = nullptr);

// ---- The grader's part.

TASK(broadcast_add) {
  title = "the sum of two views, with a stride of 0 where one is repeated";
  level = "warm-up";
  sizes = {"rows", "cols", "a_row", "a_col", "b_row", "b_col"};
  buffers = [](int rows, int cols, int a_row, int a_col, int b_row, int b_col) {
    return Buffers{{"a", (rows - 1) * a_row + (cols - 1) * a_col + 1},
                   {"b", (rows - 1) * b_row + (cols - 1) * b_col + 1},
                   {"out", rows, cols}};
  };
  reference = [](const Floats& a, const Floats& b, Floats& out, int rows, int cols, int a_row, int a_col, int b_row,
                 int b_col) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) out(i, j) = a[i * a_row + j * a_col] + b[i * b_row + j * b_col];
  };
  visible = {{1, 1, 1, 1, 1, 1},   {5, 7, 7, 1, 7, 1},    {33, 65, 65, 1, 0, 1}, {33, 65, 65, 1, 1, 0},
             {20, 40, 0, 1, 1, 0}, {40, 20, 1, 40, 0, 0}, {3, 100, 205, 2, 0, 3}};
  hidden = {{1, 50}, {1, 70}, {0, 90}, {0, 9}, {0, 90}, {0, 9}};
  counted_at = {64, 128, 128, 1, 0, 1};
  targets = {"load_requests <= 520 (8 points): two loads for each warp of 32 elements are 512 requests",
             "sectors <= 3100 (8 points): 32 neighbours of a row are 4 sectors, of a, of b and of out",
             "blocks >= 16: one block uses one SM", "launches <= 1: one does it"};
  hints = {"Which thread has which i and which j? Along which of the two should the 32 lanes of a warp lie?",
           "Let threadIdx.x count columns. A stride of 0 needs no case of its own: j * 0 is 0.",
           "if (i < rows && j < cols) out[i * cols + j] = a[i * a_row + j * a_col] + b[i * b_row + j * b_col];"};
}
