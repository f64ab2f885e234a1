// Homework of chapter 01. `make homework-01` grades this file; `make homework-01 WATCH=1` does so whenever you save it.
// What the functions must do is in homework.cuh; tasks and hints are at the end of the chapter's page.
// You need to add lines, and to change none.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// Six lines of this kernel and of its launch are missing. It compiles.

constexpr int WIDE = 32;  // threads of a block in x
constexpr int HIGH = 8;   // and in y

__global__ void scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  int row = 0;
  int col = 0;
  // TODO (2 lines): which element is this thread's?

  // TODO (1 line): not every thread has one

  float x = 0.0f;
  // TODO (1 line): fetch it

  Y[row * cols + col] = s[row] * x;
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  dim3 blocks(1, 1);
  // TODO (2 lines): as many as cover the matrix, in x and in y

  scale_rows<<<blocks, dim3(WIDE, HIGH), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// C = A B, everything column-major, one thread per element of C.

// TODO (about 10 lines): a kernel

cudaError_t launch_matmul_by_columns(const float* A, const float* B, float* C, int M, int N, int K,
                                     cudaStream_t stream) {
  // TODO (about 3 lines): launch it
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 3. stretch
// C = A B, everything row-major, four elements of C for each thread.

// TODO (about 20 lines): a kernel

cudaError_t launch_matmul_coarsened(const float* A, const float* B, float* C, int M, int N, int K,
                                    cudaStream_t stream) {
  // TODO (about 3 lines): launch it
  return cudaGetLastError();
}
