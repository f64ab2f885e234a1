// expect: tone efficiency neighbouring threads
// points: tone 80..86
#include "homework.cuh"

__global__ void tone(const float* in, float* out, int rows, int cols, float gain, float offset) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;
  const size_t i = size_t(row) * cols + col;
  out[i] = fminf(fmaxf(gain * in[i] + offset, 0), 1);
}

cudaError_t launch_tone(const float* in, float* out, int rows, int cols, float gain, float offset,
                        cudaStream_t stream) {
  const dim3 block(32, 8), grid((rows + 31) / 32, (cols + 7) / 8);
  tone<<<grid, block, 0, stream>>>(in, out, rows, cols, gain, offset);
  return cudaGetLastError();
}
