// strided_copy: any view of a matrix, copied to rows that lie one after the other.
#include "tilewise/task.hpp"

/// out[i * cols + j] = view[i * row + j * col] for 0 <= i < rows and 0 <= j < cols: what NumPy's ascontiguousarray() does.
/// The strides row and col are in elements, from 0 to 65,536. The view holds the floats from its element 0, 0 to its element rows - 1,
/// cols - 1, and nothing beyond them. out: rows x cols floats, garbage before; it does not overlap the view, which must not change.
/// rows and cols are 1 to 1,048,576, their product is below 2^31, and so is every position in the view.
/// Pass `stream` on to each launch. Returns the error of the launch.
cudaError_t launch_strided_copy(const float* view, float* out, int rows, int cols, int row, int col,
                                cudaStream_t stream = nullptr);

// ---- The grader's part.

TASK(strided_copy) {
  title = "a view of any strides becomes contiguous, a transposed one without strided accesses";
  sizes = {"rows", "cols", "row", "col"};
  buffers = [](int rows, int cols, int row, int col) {
    return Buffers{{"view", (rows - 1) * row + (cols - 1) * col + 1}, {"out", rows, cols}};
  };
  reference = [](const Floats& view, Floats& out, int rows, int cols, int row, int col) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) out(i, j) = view[i * row + j * col];
  };
  visible = {{1, 1, 1, 1},    {5, 7, 7, 1},   {33, 65, 1, 33}, {32, 32, 1, 32},
             {70, 33, 66, 2}, {40, 20, 0, 1}, {20, 40, 1, 0},  {3, 100, 205, 2}};
  hidden = {{1, 70}, {1, 70}, {0, 90}, {0, 90}};
  counted_at = {256, 192, 1, 256};
  targets = {
      "sectors <= 12600 (14 points): 49,152 words are 6,144 sectors, to be read and to be written: both sides want 32 "
      "neighbours",
      "load_requests <= 1600: a request for each 32 words are 1,536", "blocks >= 16: one block uses one SM",
      "launches <= 1: one does it"};
  hints = {"For the transposed view, which of i and j has the smaller stride in the view, and which in out?",
           "Where row < col, read a tile with threadIdx.x along the rows into shared memory, and write it with "
           "threadIdx.x along the columns.",
           "tile[threadIdx.x][k] = view[(i0 + threadIdx.x) * row + (j0 + k) * col]; __syncthreads(); out[(i0 + k) * "
           "cols + j0 + threadIdx.x] = "
           "tile[k][threadIdx.x];"};
}
