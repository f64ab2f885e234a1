// Each word is multiplied by 1, which keeps what it is worth, and not its bits: a signalling NaN becomes a quiet one.
// expect: rotate visible elements
// points: rotate 5..13
#include "homework.cuh"

__global__ void rotate(const float* A, float* B, int rows, int cols, float one) {
  __shared__ float tile[16][17];
  const int row0 = blockIdx.x * 16, col0 = blockIdx.y * 16;
  const int i = rows - 1 - col0 - int(threadIdx.y), j = row0 + threadIdx.x;
  if (i >= 0 && j < cols) tile[threadIdx.y][threadIdx.x] = one * A[size_t(i) * cols + j];
  __syncthreads();
  const int row = row0 + threadIdx.y, col = col0 + threadIdx.x;
  if (row < cols && col < rows) B[size_t(row) * rows + col] = tile[threadIdx.x][threadIdx.y];
}

cudaError_t launch_rotate(const float* A, float* B, int rows, int cols, cudaStream_t stream) {
  rotate<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16), 0, stream>>>(A, B, rows, cols, 1.0f);
  return cudaGetLastError();
}
