// 32 x 8 threads, four words each; the tile is kept as it is and read turned.
#include "homework.cuh"

namespace {
enum : int { Side = 32, Rows = 8 };

__device__ size_t flat(int row, int col, int width) { return size_t(row) * size_t(width) + size_t(col); }
}  // namespace

__global__ void turn_clockwise(const float* A, float* B, int rows, int cols) {
  __shared__ float box[Side][Side + 1];
  const int top = blockIdx.y * Side, left = blockIdx.x * Side;
  for (int dy = threadIdx.y; dy < Side; dy += Rows) {
    const int r = top + dy, c = left + int(threadIdx.x);
    if (r < rows && c < cols) box[dy][threadIdx.x] = A[flat(r, c, cols)];
  }
  __syncthreads();
  // A's column left + dy is row left + dy of B; the rows of A lie in it from right to left.
  for (int dy = threadIdx.y; dy < Side; dy += Rows) {
    const int c = left + dy, r = top + Side - 1 - int(threadIdx.x);
    if (r < rows && c < cols) B[flat(c, rows - 1 - r, rows)] = box[Side - 1 - threadIdx.x][dy];
  }
}

cudaError_t launch_rotate(const float* A, float* B, int rows, int cols, cudaStream_t stream) {
  const dim3 grid((cols + Side - 1) / Side, (rows + Side - 1) / Side), block(Side, Rows);
  turn_clockwise<<<grid, block, 0, stream>>>(A, B, rows, cols);
  return cudaGetLastError();
}
