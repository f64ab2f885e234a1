// The vector is put into shared memory, all of it: 65,535 words are more than a block can have.
// expect: row_dots findings large-sizes
// points: row_dots 65..73
#include "homework.cuh"

__global__ void row_dots(const float* A, const float* x, float* y, int rows, int cols) {
  extern __shared__ float xs[];
  const int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
  for (int c = threadIdx.x; c < cols; c += 128) xs[c] = x[c];
  __syncthreads();
  if (row >= rows) return;
  const float* a = A + size_t(row) * cols;
  float sum = 0.0f;
  for (int c = lane; c < cols; c += 32) sum += a[c] * xs[c];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) y[row] = sum;
}

cudaError_t launch_row_dots(const float* A, const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  row_dots<<<(rows + 3) / 4, 128, cols * sizeof(float), stream>>>(A, x, y, rows, cols);
  return cudaGetLastError();
}
