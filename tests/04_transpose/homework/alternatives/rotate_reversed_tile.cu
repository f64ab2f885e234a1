// The tile is filled in the order in which B wants it; blocks are those of B; 16 x 16 threads and words.
#include "homework.cuh"

__global__ void rotate(const float* A, float* B, int rows, int cols) {
  __shared__ float tile[16][17];  // tile[c][r] = B[row0 + r][col0 + c]
  const int row0 = blockIdx.x * 16;
  const int col0 = blockIdx.y * 16;
  // Column col0 + c of B is row rows - 1 - col0 - c of A.
  const int i = rows - 1 - col0 - int(threadIdx.y);
  const int j = row0 + threadIdx.x;
  if (i >= 0 && j < cols) tile[threadIdx.y][threadIdx.x] = A[i * cols + j];
  __syncthreads();
  const int row = row0 + threadIdx.y, col = col0 + threadIdx.x;
  if (row < cols && col < rows) B[row * rows + col] = tile[threadIdx.x][threadIdx.y];
}

cudaError_t launch_rotate(const float* A, float* B, int rows, int cols, cudaStream_t stream) {
  rotate<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16), 0, stream>>>(A, B, rows, cols);
  return cudaGetLastError();
}
