// Right and coalesced, in one block.
// expect: halve efficiency few-blocks
// points: halve 5..60
#include "homework.cuh"

__global__ void halve(const float* in, float* out, int rows, int cols) {
  for (int i = 0; i < rows / 2; ++i)
    for (int c0 = 0; c0 < cols; c0 += 1024) {
      const int col = c0 + threadIdx.x;
      float sum = 0.0f;
      if (col < cols) sum = in[size_t(2 * i) * cols + col] + in[size_t(2 * i + 1) * cols + col];
      sum += __shfl_down_sync(0xffffffffu, sum, 1);
      if (col % 2 == 0 && col / 2 < cols / 2) out[size_t(i) * (cols / 2) + col / 2] = sum / 4;
    }
}

cudaError_t launch_halve(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  if (rows / 2 == 0 || cols / 2 == 0) return cudaSuccess;
  halve<<<1, 1024, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
