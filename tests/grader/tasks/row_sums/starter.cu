// Homework: row_sums. `make homework-row_sums` grades this file. What the function must do is in homework.cuh.
#include "homework.cuh"

// TODO (about 8 lines): a kernel with a warp for each row

cudaError_t launch_row_sums(const float* A, float* sum, int rows, int cols, cudaStream_t stream) {
  // TODO (1 line): launch it
  return cudaGetLastError();
}
