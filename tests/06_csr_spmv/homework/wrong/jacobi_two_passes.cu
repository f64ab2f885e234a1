// expect: jacobi_step efficiency sectors of loads
// points: jacobi_step 5..92
// First the diagonal element is looked for, then the sum is made: columns are fetched twice.
#include "homework.cuh"

__global__ void jacobi_step(int rows, const int* row_ptr, const int* col_index, const float* values, const float* b,
                            const float* x, float* x_new) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const int first = row_ptr[row], last = row_ptr[row + 1];
  float sum = 0.0f, diagonal = 1.0f;
  for (int e = first; e < last; ++e)
    if (col_index[e] == row) diagonal = values[e];
  for (int e = first; e < last; ++e)
    if (col_index[e] != row) sum += values[e] * x[col_index[e]];
  x_new[row] = (b[row] - sum) / diagonal;
}

cudaError_t launch_jacobi_step(int rows, const int* row_ptr, const int* col_index, const float* values, const float* b,
                               const float* x, float* x_new, cudaStream_t stream) {
  jacobi_step<<<(rows + 127) / 128, 128, 0, stream>>>(rows, row_ptr, col_index, values, b, x, x_new);
  return cudaGetLastError();
}
