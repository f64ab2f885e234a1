// Each word of the image is added to its mean: four atomic updates for each.
// expect: halve efficiency sectors of stores
// points: halve 5..94
#include "homework.cuh"

__global__ void k(const float* in, float* out, int rows, int cols) {
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i / 2 < rows / 2 && j / 2 < cols / 2)
    atomicAdd(&out[(size_t)(i / 2) * (cols / 2) + j / 2], 0.25f * in[(size_t)i * cols + j]);
}
cudaError_t launch_halve(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  if (rows < 2 || cols < 2) return cudaSuccess;
  cudaError_t e = cudaMemsetAsync(out, 0, sizeof(float) * (rows / 2) * (cols / 2), stream);
  if (e) return e;
  k<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
