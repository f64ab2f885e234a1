// All nonzeros are in the sum: x_new = x + (b - A x) / a_ii.
#include "homework.cuh"

__global__ void jacobi_step(int rows, const int* row_ptr, const int* col_index, const float* values, const float* b,
                            const float* x, float* x_new) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float residual = b[row], diagonal = 0.0f;
  const int last = row_ptr[row + 1];
  for (int e = row_ptr[row]; e < last; ++e) {
    const float value = values[e];
    const int col = col_index[e];
    if (col == row) diagonal = value;
    residual -= value * x[col];
  }
  x_new[row] = x[row] + residual / diagonal;
}

cudaError_t launch_jacobi_step(int rows, const int* row_ptr, const int* col_index, const float* values, const float* b,
                               const float* x, float* x_new, cudaStream_t stream) {
  jacobi_step<<<(rows + 127) / 128, 128, 0, stream>>>(rows, row_ptr, col_index, values, b, x, x_new);
  return cudaGetLastError();
}
