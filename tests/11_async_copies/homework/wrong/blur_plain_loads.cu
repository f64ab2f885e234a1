// expect: blur efficiency requests of loads
// points: blur 5..60
// Right, but the rows are loaded and stored into shared memory.
#include "homework.cuh"

constexpr int STRIP = 128, HEIGHT = 32;

__global__ void blur(const float* in, float* out, int rows, int cols) {
  __shared__ float stage[4][STRIP + 2];
  const int t = threadIdx.x, col0 = blockIdx.x * STRIP, row0 = blockIdx.y * HEIGHT, end = min(row0 + HEIGHT, rows);
  const auto load = [&](int r) {
    for (int j = t; j < STRIP + 2; j += STRIP) {
      const int col = col0 - 1 + j;
      const bool inside = r >= 0 && r < rows && col >= 0 && col < cols;
      stage[(r + 1) % 4][j] = inside ? in[size_t(r) * cols + col] : 0.0f;
    }
  };
  load(row0 - 1);
  load(row0);
  for (int r = row0; r < end; ++r) {
    load(r + 1);
    __syncthreads();
    float sum = 0.0f;
    for (int i = r; i < r + 3; ++i)
      for (int j = 0; j < 3; ++j) sum += stage[i % 4][t + j];
    if (col0 + t < cols) out[size_t(r) * cols + col0 + t] = sum / 9.0f;
  }
}

cudaError_t launch_blur(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  blur<<<dim3((cols + STRIP - 1) / STRIP, (rows + HEIGHT - 1) / HEIGHT), STRIP, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
