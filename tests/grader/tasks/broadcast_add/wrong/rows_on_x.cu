// expect: broadcast_add efficiency sectors
// points: broadcast_add 80..99
#include "homework.cuh"

__global__ void broadcast_add(const float* a, const float* b, float* out, int rows, int cols, int a_row, int a_col, int b_row, int b_col) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  for (int j = blockIdx.y * blockDim.y + threadIdx.y; j < cols; j += gridDim.y * blockDim.y)
    out[i * cols + j] = a[i * a_row + j * a_col] + b[i * b_row + j * b_col];
}

cudaError_t launch_broadcast_add(const float* a, const float* b, float* out, int rows, int cols, int a_row, int a_col, int b_row,
                                 int b_col, cudaStream_t stream) {
  const dim3 threads(32, 8), blocks((rows + 31) / 32, (cols + 7) / 8 < 65535 ? (cols + 7) / 8 : 65535);
  broadcast_add<<<blocks, threads, 0, stream>>>(a, b, out, rows, cols, a_row, a_col, b_row, b_col);
  return cudaGetLastError();
}
