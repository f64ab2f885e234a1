// expect: broadcast_add visible of 7 shapes right
// points: broadcast_add 10..70
// The stride from row to row of b is left out.
#include "homework.cuh"

__global__ void broadcast_add(const float* a, const float* b, float* out, int rows, int cols, int a_row, int a_col, int b_row, int b_col) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= cols) return;
  for (int i = blockIdx.y * blockDim.y + threadIdx.y; i < rows; i += gridDim.y * blockDim.y)
    out[i * cols + j] = a[i * a_row + j * a_col] + b[j * b_col];
}

cudaError_t launch_broadcast_add(const float* a, const float* b, float* out, int rows, int cols, int a_row, int a_col, int b_row,
                                 int b_col, cudaStream_t stream) {
  const dim3 threads(32, 8), blocks((cols + 31) / 32, (rows + 7) / 8 < 65535 ? (rows + 7) / 8 : 65535);
  broadcast_add<<<blocks, threads, 0, stream>>>(a, b, out, rows, cols, a_row, a_col, b_row, b_col);
  return cudaGetLastError();
}
