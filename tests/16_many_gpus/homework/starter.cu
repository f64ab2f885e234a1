// Homework of chapter 16. `make homework-16` grades this file; `make homework-16 WATCH=1` does so whenever you save it.
// What the functions must do is in homework.cuh; tasks and hints are at the end of the chapter's page.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. core
// Heat in a plate whose rows lie on several devices.

// A step for rows first, first + 1, ..., last - 1 of the `rows` rows that a device has; row 0 comes after the room for
// a row of the neighbour's. top, bottom: the plate ends before row 0, or after the last row.
__global__ void heat(const float* from, float* to, int rows, int width, int first, int last, bool top, bool bottom) {
  const size_t point = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const int row = first + int(point / width), col = int(point % width);
  if (row >= last) return;
  const size_t i = size_t(row + 1) * width + col;
  const float above = from[top && row == 0 ? i : i - width], below = from[bottom && row == rows - 1 ? i : i + width];
  const float left = from[col == 0 ? i : i - 1], right = from[col == width - 1 ? i : i + 1];
  to[i] = (above + below + left + right + 4 * from[i]) / 8;
}

cudaError_t launch_heat(float* const* from, float* const* to, float* const* work, int height, int width, int steps,
                        int devices, const cudaStream_t* streams) {
  cudaError_t error = cudaSuccess;
  // TODO (about 65 lines): in each step every device gets a row of each neighbour's, and computes its own rows
  return error;
}

// ---------------------------------------------------------------------------------------------- 2. stretch
// Every device gets the sums of all.

__global__ void add(const float* more, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] += more[i];
}

cudaError_t launch_all_reduce(float* const* x, float* const* work, int n, int devices, const cudaStream_t* streams) {
  cudaError_t error = cudaSuccess;
  // TODO (about 32 lines): the arrays in as many parts as there are devices; add up the parts, then pass the sums round
  return error;
}
