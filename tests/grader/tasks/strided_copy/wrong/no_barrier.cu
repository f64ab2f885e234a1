// expect: strided_copy findings __syncthreads
// points: strided_copy 0..60
#include "homework.cuh"

constexpr int T = 32;  // a tile is T x T

__global__ void strided_copy(const float* view, float* out, int rows, int cols, int row, int col) {
  __shared__ float tile[T][T + 1];  // tile[i][j]: element i0 + i, j0 + j of the view
  const int tiles_across = (cols + T - 1) / T, i0 = blockIdx.x / tiles_across * T, j0 = blockIdx.x % tiles_across * T;
  const int x = threadIdx.x;
  for (int k = threadIdx.y; k < T; k += blockDim.y) {
    // neighbours in a warp are neighbours in the view: along its rows or along its columns
    const int i = row < col ? x : k, j = row < col ? k : x;
    if (i0 + i < rows && j0 + j < cols) tile[i][j] = view[(i0 + i) * row + (j0 + j) * col];
  }
  for (int k = threadIdx.y; k < T; k += blockDim.y)
    if (i0 + k < rows && j0 + x < cols) out[(i0 + k) * cols + j0 + x] = tile[k][x];
}

cudaError_t launch_strided_copy(const float* view, float* out, int rows, int cols, int row, int col, cudaStream_t stream) {
  const int tiles_across = (cols + 31) / 32, tiles_down = (rows + 31) / 32;
  const dim3 threads(32, 8);
  strided_copy<<<tiles_across * tiles_down, threads, 0, stream>>>(view, out, rows, cols, row, col);
  return cudaGetLastError();
}
