// expect: row_dots efficiency requests of loads
// points: row_dots 80..90
// Elements of an array in an aligned struct, in a loop: nvcc knows no more of them than that they're floats.
#include "homework.cuh"

// aligned struct of an array, read in place
struct alignas(16) Four { float f[4]; };

__global__ void row_dots_wide(const float* A, const float* x, float* y, int rows, int cols) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f;
  const Four* a = reinterpret_cast<const Four*>(A) + row * (cols / 4);
  const Four* b = reinterpret_cast<const Four*>(x);
  for (int q = lane; q < cols / 4; q += 32) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sum += a[q].f[i] * b[q].f[i];
  }
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (lane == 0) y[row] = sum;
}

__global__ void row_dots(const float* A, const float* x, float* y, int rows, int cols) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = lane; c < cols; c += 32) sum += A[row * cols + c] * x[c];
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (lane == 0) y[row] = sum;
}

cudaError_t launch_row_dots(const float* A, const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  if (cols % 4 == 0)
    row_dots_wide<<<(rows + 7) / 8, 256, 0, stream>>>(A, x, y, rows, cols);
  else
    row_dots<<<(rows + 7) / 8, 256, 0, stream>>>(A, x, y, rows, cols);
  return cudaGetLastError();
}
