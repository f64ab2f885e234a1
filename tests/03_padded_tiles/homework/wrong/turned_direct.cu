// expect: running_sums_turned efficiency neighbouring threads are
// points: running_sums_turned 5..96
// Right, without a tile.
#include "homework.cuh"

__global__ void turned(const float* in, float* out, int rows, int cols) {
  const int r = blockIdx.x * 32 + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) out[c * rows + r] = sum += in[r * cols + c];
}

cudaError_t launch_running_sums_turned(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  turned<<<(rows + 31) / 32, 32, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
