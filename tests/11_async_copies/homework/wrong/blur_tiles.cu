// expect: blur efficiency words that were copied asynchronously
// points: blur 5..96
// Right, but each block has 32 x 8 pixels, waits for its 34 x 10, and ends.
#include "homework.cuh"

#include <cuda_pipeline.h>

__global__ void blur(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[10][34];
  const int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.y * 8 - 1, col0 = blockIdx.x * 32 - 1;
  for (int i = ty; i < 10; i += 8)
    for (int j = tx; j < 34; j += 32) {
      const int r = row0 + i, c = col0 + j;
      const bool inside = r >= 0 && r < rows && c >= 0 && c < cols;
      __pipeline_memcpy_async(&tile[i][j], inside ? &in[size_t(r) * cols + c] : in, 4, inside ? 0 : 4);
    }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  float sum = 0.0f;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) sum += tile[ty + i][tx + j];
  const int row = row0 + 1 + ty, col = col0 + 1 + tx;
  if (row < rows && col < cols) out[size_t(row) * cols + col] = sum / 9.0f;
}

cudaError_t launch_blur(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  blur<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
