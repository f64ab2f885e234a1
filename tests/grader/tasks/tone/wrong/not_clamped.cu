// expect: tone visible when the result may leave the range from 0 to 1
// points: tone 5..5
#include "homework.cuh"

__global__ void tone(const float* in, float* out, int rows, int cols, float gain, float offset) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;
  const size_t i = size_t(row) * cols + col;
  out[i] = gain * in[i] + offset;
}

cudaError_t launch_tone(const float* in, float* out, int rows, int cols, float gain, float offset,
                        cudaStream_t stream) {
  const dim3 block(32, 8), grid((cols + 31) / 32, (rows + 7) / 8);
  tone<<<grid, block, 0, stream>>>(in, out, rows, cols, gain, offset);
  return cudaGetLastError();
}
