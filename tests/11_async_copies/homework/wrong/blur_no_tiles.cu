// expect: blur efficiency requests of loads
// points: blur 5..60
// Right, but each thread loads its nine pixels from global memory.
#include "homework.cuh"

__global__ void blur(const float* in, float* out, int rows, int cols) {
  const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows || col >= cols) return;
  float sum = 0.0f;
  for (int i = max(row - 1, 0); i <= min(row + 1, rows - 1); ++i)
    for (int j = max(col - 1, 0); j <= min(col + 1, cols - 1); ++j) sum += in[size_t(i) * cols + j];
  out[size_t(row) * cols + col] = sum / 9.0f;
}

cudaError_t launch_blur(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  blur<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
