// One solution of the homework of chapter 06. `make solution-06` prints it.
#include "homework.cuh"

// ---------------------------------------------------------------------------------------------- 1. warm-up
// About eight lines of this kernel are missing. It compiles.

__global__ void jacobi_step(int rows, const int* row_ptr, const int* col_index, const float* values, const float* b,
                            const float* x, float* x_new) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;

  int first = 0, last = 0;  // nonzeros of this row: first <= e < last
  first = row_ptr[row];
  last = row_ptr[row + 1];  // where the next row begins; row_ptr has an element more, so that the last row has a next

  float sum = 0.0f, diagonal = 1.0f;
  for (int e = first; e < last; ++e) {
    const int col = col_index[e];
    if (col == row)
      diagonal = values[e];
    else
      sum += values[e] * x[col];  // the value by the nonzero's number, x by its column
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

// What a nonzero does in its own row stays in a register until the row is done: one atomic addition per row. What it
// does in the row of its column goes to y at once, since other rows add there, too.
constexpr int LANES = 8;  // per row

__global__ void symmetric_spmv(int rows, const int* row_ptr, const int* col_index, const float* values, const float* x,
                               float* y) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = thread / LANES, lane = thread % LANES;
  float sum = 0.0f;
  if (row < rows) {
    const float x_row = x[row];
    const int last = row_ptr[row + 1];
    for (int e = row_ptr[row] + lane; e < last; e += LANES) {
      const int col = col_index[e];
      const float value = values[e];
      sum += value * x[col];                              // a_ij, in row i
      if (col != row) atomicAdd(y + col, value * x_row);  // a_ji, in row j
    }
  }
  for (int apart = LANES / 2; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart, LANES);
  if (row < rows && lane == 0) atomicAdd(y + row, sum);  // no store: rows further down have added to it
}

cudaError_t launch_symmetric_spmv(int rows, int nnz, const int* row_ptr, const int* col_index, const float* values,
                                  const float* x, float* y, cudaStream_t stream) {
  const cudaError_t error = cudaMemsetAsync(y, 0, rows * sizeof(float), stream);  // before the kernel, not in it
  if (error != cudaSuccess) return error;
  symmetric_spmv<<<(rows * LANES + 255) / 256, 256, 0, stream>>>(rows, row_ptr, col_index, values, x, y);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 3. stretch
// C = A B with a sparse A and a dense B.

// A warp has 32 neighbouring elements of one row of C. They all need the same nonzeros: the lanes fetch 32 of them with
// one request each for columns and values, and hand them around.
__global__ void spmm(int rows, int n, const int* row_ptr, const int* col_index, const float* values, const float* B,
                     float* C) {
  const int lane = threadIdx.x;  // 0 .. 31
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  const int j = blockIdx.y * 32 + lane;
  if (row >= rows) return;  // the whole warp, or none of it; lanes beyond n must stay for the shuffles
  float sum = 0.0f;
  const int last = row_ptr[row + 1];
  for (int e = row_ptr[row]; e < last; e += 32) {
    const int my_col = e + lane < last ? col_index[e + lane] : 0;
    const float my_value = e + lane < last ? values[e + lane] : 0.0f;
    for (int k = 0; k < min(32, last - e); ++k) {
      const int col = __shfl_sync(0xffffffff, my_col, k);
      const float value = __shfl_sync(0xffffffff, my_value, k);
      if (j < n) sum += value * B[static_cast<size_t>(col) * n + j];
    }
  }
  if (j < n) C[static_cast<size_t>(row) * n + j] = sum;
}

cudaError_t launch_spmm(int rows, int cols, int n, int nnz, const int* row_ptr, const int* col_index,
                        const float* values, const float* B, float* C, cudaStream_t stream) {
  const dim3 blocks((rows + 7) / 8, (n + 31) / 32);
  spmm<<<blocks, dim3(32, 8), 0, stream>>>(rows, n, row_ptr, col_index, values, B, C);
  return cudaGetLastError();
}
