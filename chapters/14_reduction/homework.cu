// Homework of chapter 14. `make homework-14` grades this file; `make homework-14 WATCH=1` does so whenever you save it.
// What the functions must do is in homework.cuh; tasks and hints are at the end of the chapter's page.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. core
// The least, the largest and the count of n numbers, with NaNs among them.

// What is known of some of the elements.
struct Summary {
  float least, largest;
  int count;
};

// TODO (about 54 lines): how two summaries become one; that of a thread, of a warp, of a block; then that of all blocks

cudaError_t launch_min_max_count(const float* x, int n, float* range, int* count, float* parts, int* part_counts,
                                 int* arrived, cudaStream_t stream) {
  // TODO (about 3 lines): how many blocks? Then launch them
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. stretch
// L[i] = log(sum over j of exp(A[i][j])), which must not overflow, in one pass over each row.

// The sum of exp(a - top) of some elements a of a row; top is the largest of them.
struct ExpSum {
  float top, sum;
};

// TODO (about 27 lines): how two of these become one, and a kernel

cudaError_t launch_row_log_sum_exp(const float* A, float* L, int M, int N, cudaStream_t stream) {
  // TODO (about 4 lines): how many threads should a row get? Then launch
  return cudaGetLastError();
}
