// Two words at a time, wherever they lie.
// expect: halve findings misaligned
// points: halve 5..85
#include "homework.cuh"

__global__ void halve(const float* in, float* out, int rows, int cols) {
  const int j = blockIdx.x * 32 + threadIdx.x;
  const int i = blockIdx.y * 8 + threadIdx.y;
  if (i >= rows / 2 || j >= cols / 2) return;
  const float2 a = *reinterpret_cast<const float2*>(in + 2 * i * cols + 2 * j);
  const float2 b = *reinterpret_cast<const float2*>(in + (2 * i + 1) * cols + 2 * j);
  out[i * (cols / 2) + j] = 0.25f * (a.x + a.y + b.x + b.y);
}

cudaError_t launch_halve(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  if (rows < 2 || cols < 2) return cudaSuccess;
  const dim3 blocks((cols / 2 + 31) / 32, (rows / 2 + 7) / 8);
  halve<<<blocks, dim3(32, 8), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
