// Lanes that are outside leave, and then their neighbours ask them.
// expect: halve findings shuffle
// points: halve 5..85
#include "homework.cuh"

// Rows are added first, then the sum of the neighbour comes by a shuffle; even lanes have results.
__global__ void halve(const float* in, float* out, int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y;
  if (col >= cols / 2 * 2 - 1) return;
  float sum = in[size_t(2 * i) * cols + col] + in[size_t(2 * i + 1) * cols + col];
  sum += __shfl_down_sync(0xffffffffu, sum, 1);
  if (col % 2 == 0 && col / 2 < cols / 2) out[size_t(i) * (cols / 2) + col / 2] = sum / 4;
}

cudaError_t launch_halve(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  if (rows / 2 == 0 || cols / 2 == 0) return cudaSuccess;
  halve<<<dim3((cols + 127) / 128, rows / 2), 128, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
