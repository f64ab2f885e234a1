// Homework of chapter 10. `make homework-10` grades this file; `make homework-10 WATCH=1` does so whenever you save it.
// What the functions must do is in homework.cuh; tasks and hints are at the end of the chapter's page.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// y = A x: a warp for each row, and four words per load wherever rows allow it.

cudaError_t launch_row_dots(const float* A, const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  // TODO
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// G = A^T A, with 4 x 4 elements of G for each thread.

cudaError_t launch_gram(const float* A, float* G, int N, int K, cudaStream_t stream) {
  // TODO
  return cudaGetLastError();
}
