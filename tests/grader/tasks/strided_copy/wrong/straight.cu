// expect: strided_copy efficiency sectors
// points: strided_copy 80..90
// Right, and strided where the view is.
#include "homework.cuh"

__global__ void strided_copy(const float* view, float* out, int rows, int cols, int row, int col) {
  const int tiles_across = (cols + 31) / 32;
  const int i = blockIdx.x / tiles_across * 8 + threadIdx.y, j = blockIdx.x % tiles_across * 32 + threadIdx.x;
  if (i < rows && j < cols) out[i * cols + j] = view[i * row + j * col];
}

cudaError_t launch_strided_copy(const float* view, float* out, int rows, int cols, int row, int col, cudaStream_t stream) {
  const dim3 threads(32, 8);
  strided_copy<<<(cols + 31) / 32 * ((rows + 7) / 8), threads, 0, stream>>>(view, out, rows, cols, row, col);
  return cudaGetLastError();
}
