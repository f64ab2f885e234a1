// expect: row_dots visible only the first of each four
// points: row_dots 32..41
// Adds .x for all four words.
#include "homework.cuh"

__global__ void row_dots(const float* A, const float* x, float* y, int rows, int cols) {
  const int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;  // a whole warp
  const float* a = A + size_t(row) * cols;
  float sum = 0.0f;
  if (cols % 4 == 0) {
    for (int c = 4 * lane; c < cols; c += 128) {
      const float4 p = *reinterpret_cast<const float4*>(a + c), q = *reinterpret_cast<const float4*>(x + c);
      sum += p.x * q.x;
    }
  } else {
    for (int c = lane; c < cols; c += 32) sum += a[c] * x[c];
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (lane == 0) y[row] = sum;
}

cudaError_t launch_row_dots(const float* A, const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  row_dots<<<(rows + 3) / 4, 128, 0, stream>>>(A, x, y, rows, cols);
  return cudaGetLastError();
}
