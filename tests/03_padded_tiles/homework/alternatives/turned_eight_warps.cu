// Blocks of eight warps, each with 32 rows and a tile of its own.
#include "homework.cuh"

__global__ void running_sums_turned(const float* in, float* out, int rows, int cols) {
  __shared__ float tiles[8][32][33];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, r0 = (blockIdx.x * 8 + warp) * 32;
  float(&tile)[32][33] = tiles[warp];
  float sum = 0.0f;
  for (int c0 = 0; c0 < cols; c0 += 32) {
    for (int i = 0; i < 32; ++i)
      tile[i][lane] = r0 + i < rows && c0 + lane < cols ? in[size_t(r0 + i) * cols + c0 + lane] : 0.0f;
    __syncwarp();
    for (int j = 0; j < 32; ++j) {
      sum += tile[lane][j];
      if (r0 + lane < rows && c0 + j < cols) out[size_t(c0 + j) * rows + r0 + lane] = sum;
    }
    __syncwarp();
  }
}

cudaError_t launch_running_sums_turned(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  running_sums_turned<<<(rows + 255) / 256, 256, 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
