// The sum has no first value.
// expect: jacobi_step visible elements are wrong
// points: jacobi_step 5..57
#include "homework.cuh"

__global__ void jacobi(int rows, const int* row_ptr, const int* col_index, const float* values, const float* b,
                       const float* x, float* x_new) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  float sum, diagonal = 1.0f;
  for (int e = row_ptr[row]; e < row_ptr[row + 1]; ++e) {
    const int col = col_index[e];
    const float v = values[e];
    if (col == row)
      diagonal = v;
    else
      sum += v * x[col];
  }
  x_new[row] = (b[row] - sum) / diagonal;
}

cudaError_t launch_jacobi_step(int rows, const int* row_ptr, const int* col_index, const float* values, const float* b,
                               const float* x, float* x_new, cudaStream_t stream) {
  jacobi<<<(rows + 127) / 128, 128, 0, stream>>>(rows, row_ptr, col_index, values, b, x, x_new);
  return cudaGetLastError();
}
