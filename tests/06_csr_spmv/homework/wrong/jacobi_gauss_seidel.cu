// expect: jacobi_step findings race-global
// points: jacobi_step 5..80
// Takes the new value of what lies 2,000 rows before: another method, and that block may not have stored it yet.
#include "homework.cuh"

__global__ void step(int rows, const int* row_ptr, const int* col_index, const float* values, const float* b,
                     const float* x, float* x_new) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f, diagonal = 1.0f;
  for (int e = row_ptr[row]; e < row_ptr[row + 1]; ++e) {
    const int col = col_index[e];
    if (col == row)
      diagonal = values[e];
    else
      sum += values[e] * (col < row - 2000 ? x_new[col] : x[col]);
  }
  x_new[row] = (b[row] - sum) / diagonal;
}

cudaError_t launch_jacobi_step(int rows, const int* row_ptr, const int* col_index, const float* values, const float* b,
                               const float* x, float* x_new, cudaStream_t stream) {
  step<<<(rows + 127) / 128, 128, 0, stream>>>(rows, row_ptr, col_index, values, b, x, x_new);
  return cudaGetLastError();
}
