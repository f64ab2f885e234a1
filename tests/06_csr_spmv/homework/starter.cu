// Homework of chapter 06. `make homework-06` grades this file; `make homework-06 WATCH=1` does so whenever you save it.
// homework.cuh says what the functions must do; tasks and hints are at the end of the chapter's page.
// You need to add lines, and to change none.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// About eight lines of this kernel are missing. It compiles.

__global__ void jacobi_step(int rows, const int* row_ptr, const int* col_index, const float* values, const float* b,
                            const float* x, float* x_new) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  // TODO (1 line): not every thread has a row

  int first = 0, last = 0;  // nonzeros of this row: first <= e < last
  // TODO (2 lines): where they begin and where they end

  float sum = 0.0f, diagonal = 1.0f;
  for (int e = first; e < last; ++e) {
    // TODO (about 5 lines): the diagonal element is not part of the sum, and may be anywhere in the row
  }
  x_new[row] = (b[row] - sum) / diagonal;
}

cudaError_t launch_jacobi_step(int rows, const int* row_ptr, const int* col_index, const float* values, const float* b,
                               const float* x, float* x_new, cudaStream_t stream) {
  jacobi_step<<<(rows + 127) / 128, 128, 0, stream>>>(rows, row_ptr, col_index, values, b, x, x_new);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// y = A x, from the lower triangle of a symmetric A. You choose how to share out the rows.

// TODO (about 20 lines): a kernel

cudaError_t launch_symmetric_spmv(int rows, int nnz, const int* row_ptr, const int* col_index, const float* values,
                                  const float* x, float* y, cudaStream_t stream) {
  // TODO (about 4 lines): what must be in y before anything is added to it; then launch
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 3. stretch
// C = A B with a sparse A and a dense B.

// TODO (about 25 lines): a kernel

cudaError_t launch_spmm(int rows, int cols, int n, int nnz, const int* row_ptr, const int* col_index,
                        const float* values, const float* B, float* C, cudaStream_t stream) {
  // TODO (about 3 lines): launch it
  return cudaGetLastError();
}
