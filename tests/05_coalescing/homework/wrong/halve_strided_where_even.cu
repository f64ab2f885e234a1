// Rows are added first where the width is odd, which is what is counted first; stride 2 where it is even.
// expect: halve efficiency at even widths
// points: halve 5..94
#include "homework.cuh"

__global__ void odd(const float* in, float* out, int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  float sum = 0.0f;
  if (col < cols) sum = in[2 * i * cols + col] + in[(2 * i + 1) * cols + col];
  sum += __shfl_down_sync(0xffffffffu, sum, 1);
  if (col % 2 == 0 && col / 2 < cols / 2) out[i * (cols / 2) + col / 2] = sum / 4;
}

__global__ void even(const float* in, float* out, int rows, int cols) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (j >= cols / 2) return;
  const float* upper = in + 2 * i * cols + 2 * j;
  out[i * (cols / 2) + j] = (upper[0] + upper[1] + upper[cols] + upper[cols + 1]) / 4;
}

cudaError_t launch_halve(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  if (rows < 2 || cols < 2) return cudaSuccess;
  const dim3 blocks((cols + 127) / 128, rows / 2);
  if (cols % 2 != 0)
    odd<<<blocks, 128, 0, stream>>>(in, out, rows, cols);
  else
    even<<<blocks, 128, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
