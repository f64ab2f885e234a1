// One kernel for views whose columns are neighbours, and another one for the rest.
#include "homework.cuh"

__global__ void straight(const float* view, float* out, int rows, int cols, int row, int col) {
  const int tiles_across = (cols + 31) / 32;
  const int i = blockIdx.x / tiles_across * 8 + threadIdx.y, j = blockIdx.x % tiles_across * 32 + threadIdx.x;
  if (i < rows && j < cols) out[i * cols + j] = view[i * row + j * col];
}

__global__ void turned(const float* view, float* out, int rows, int cols, int row, int col) {
  __shared__ float tile[32][33];
  const int tiles_across = (cols + 31) / 32, i0 = blockIdx.x / tiles_across * 32, j0 = blockIdx.x % tiles_across * 32;
  for (int k = threadIdx.y; k < 32; k += 8)
    if (i0 + int(threadIdx.x) < rows && j0 + k < cols) tile[threadIdx.x][k] = view[(i0 + int(threadIdx.x)) * row + (j0 + k) * col];
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8)
    if (i0 + k < rows && j0 + int(threadIdx.x) < cols) out[(i0 + k) * cols + j0 + threadIdx.x] = tile[k][threadIdx.x];
}

cudaError_t launch_strided_copy(const float* view, float* out, int rows, int cols, int row, int col, cudaStream_t stream) {
  const int across = (cols + 31) / 32;
  if (row < col)
    turned<<<across * ((rows + 31) / 32), dim3(32, 8), 0, stream>>>(view, out, rows, cols, row, col);
  else
    straight<<<across * ((rows + 7) / 8), dim3(32, 8), 0, stream>>>(view, out, rows, cols, row, col);
  return cudaGetLastError();
}
