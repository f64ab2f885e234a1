// expect: blur efficiency right after they had begun the copies
// points: blur 5..96
// Right, but each row is waited for as soon as its copies have begun.
#include "homework.cuh"

#include <cuda_pipeline.h>

constexpr int STRIP = 128;
constexpr int HEIGHT = 32;
constexpr int STAGES = 5;

__global__ void blur(const float* in, float* out, int rows, int cols) {
  __shared__ float stage[STAGES][STRIP + 2];
  const int t = threadIdx.x, col0 = blockIdx.x * STRIP, row0 = blockIdx.y * HEIGHT;
  const int end = min(row0 + HEIGHT, rows);
  const auto fetch = [&](int r) {
    for (int j = t; j < STRIP + 2 && r <= end; j += STRIP) {
      const int col = col0 - 1 + j;
      const bool inside = r >= 0 && r < rows && col >= 0 && col < cols;
      __pipeline_memcpy_async(&stage[(r + 1) % STAGES][j], inside ? &in[size_t(r) * cols + col] : in, 4, inside ? 0 : 4);
    }
    __pipeline_commit();
  };
  for (int r = row0 - 1; r <= row0; ++r) fetch(r);
  for (int r = row0; r < end; ++r) {
    fetch(r + 1);
    __pipeline_wait_prior(0);
    __syncthreads();
    float sum = 0.0f;
    for (int i = r; i < r + 3; ++i)
      for (int j = 0; j < 3; ++j) sum += stage[i % STAGES][t + j];
    if (col0 + t < cols) out[size_t(r) * cols + col0 + t] = sum / 9.0f;
  }
}

cudaError_t launch_blur(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  const dim3 blocks((cols + STRIP - 1) / STRIP, (rows + HEIGHT - 1) / HEIGHT);
  blur<<<blocks, STRIP, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
