// expect: jacobi_step efficiency requests of loads
// points: jacobi_step 5..92
// A block for each row, of one thread.
#include "homework.cuh"

__global__ void jacobi_step(int rows, const int* row_ptr, const int* col_index, const float* values, const float* b,
                            const float* x, float* x_new) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f, diagonal = 1.0f;
  for (int e = row_ptr[row]; e < row_ptr[row + 1]; ++e) {
    const int col = col_index[e];
    if (col == row)
      diagonal = values[e];
    else
      sum += values[e] * x[col];
  }
  x_new[row] = (b[row] - sum) / diagonal;
}

cudaError_t launch_jacobi_step(int rows, const int* row_ptr, const int* col_index, const float* values, const float* b,
                               const float* x, float* x_new, cudaStream_t stream) {
  jacobi_step<<<rows, 1, 0, stream>>>(rows, row_ptr, col_index, values, b, x, x_new);
  return cudaGetLastError();
}
