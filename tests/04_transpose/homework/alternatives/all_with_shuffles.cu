// All tasks by hand-written indices, shuffles and swizzles; comments are Chinese.
// 第四章：旋转、原地转置、NHWC 到 NCHW。
#include "homework.cuh"

#define TILE 32

// 整个线程块 32x32，每个线程一个字
__global__ void rotate(const float* A, float* B, int rows, int cols) {
  __shared__ unsigned tile[TILE][TILE + 1];  // 只移动位，不计算
  const unsigned* a = (const unsigned*)A;
  unsigned* b = (unsigned*)B;
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < cols && y < rows) tile[threadIdx.x][threadIdx.y] = a[y * (size_t)cols + x];
  __syncthreads();
  const int row = blockIdx.x * TILE + threadIdx.y, col = rows - 1 - (int)(blockIdx.y * TILE + threadIdx.x);
  if (row < cols && col >= 0) b[row * (size_t)rows + col] = tile[threadIdx.y][threadIdx.x];
}

cudaError_t launch_rotate(const float* A, float* B, int rows, int cols, cudaStream_t stream) {
  rotate<<<dim3((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE), dim3(TILE, TILE), 0, stream>>>(A, B, rows, cols);
  return cudaGetLastError();
}

// 每个线程块处理一条块对角线上的若干对：网格步长
__global__ void transpose_in_place(float* A, int n) {
  __shared__ float tile[2][TILE][TILE + 1];
  const int tiles = (n + TILE - 1) / TILE;
  const int tx = threadIdx.x, ty = threadIdx.y;
  for (int d = blockIdx.y; d < tiles; d += gridDim.y)          // 到对角线的距离
    for (int t = blockIdx.x; t + d < tiles; t += gridDim.x) {  // 对角线上的位置
      const int r0 = t * TILE, c0 = (t + d) * TILE;
      #pragma unroll
      for (int i = 0; i < TILE; i += 8) {
        if (r0 + ty + i < n && c0 + tx < n) tile[0][ty + i][tx] = A[size_t(r0 + ty + i) * n + c0 + tx];
        if (d && c0 + ty + i < n && r0 + tx < n) tile[1][ty + i][tx] = A[size_t(c0 + ty + i) * n + r0 + tx];
      }
      __syncthreads();
      #pragma unroll
      for (int i = 0; i < TILE; i += 8) {
        if (c0 + ty + i < n && r0 + tx < n) A[size_t(c0 + ty + i) * n + r0 + tx] = tile[0][tx][ty + i];
        if (d && r0 + ty + i < n && c0 + tx < n) A[size_t(r0 + ty + i) * n + c0 + tx] = tile[1][tx][ty + i];
      }
      __syncthreads();
    }
}

cudaError_t launch_transpose_in_place(float* A, int n, cudaStream_t stream) {
  int g = (n + TILE - 1) / TILE;
  if (g > 512) g = 512;
  transpose_in_place<<<dim3(g, g), dim3(TILE, 8), 0, stream>>>(A, n);
  return cudaGetLastError();
}

// 一个线程块：一张图的 64 个像素，通道分批，每批最多 32 个
__global__ void nhwc_to_nchw(const float* in, float* out, int pixels, int channels) {
  __shared__ float s[64 * 33];
  const int p0 = blockIdx.x * 64, left = min(64, pixels - p0);
  const size_t image = size_t(blockIdx.y) * pixels * channels;
  for (int c0 = 0; c0 < channels; c0 += 32) {
    const int n = min(32, channels - c0), pitch = n + !(n & 1);
    for (int k = threadIdx.x; k < left * n; k += 128) {
      const int p = k / n, c = k - p * n;
      s[p * pitch + c] = in[image + size_t(p0 + p) * channels + c0 + c];
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 64 * n; k += 128) {
      const int c = k >> 6, p = k & 63;
      if (p < left) out[image + size_t(c0 + c) * pixels + p0 + p] = s[p * pitch + c];
    }
    __syncthreads();
  }
}

cudaError_t launch_nhwc_to_nchw(const float* in, float* out, int images, int pixels, int channels, cudaStream_t stream) {
  nhwc_to_nchw<<<dim3((pixels + 63) / 64, images), 128, 0, stream>>>(in, out, pixels, channels);
  return cudaGetLastError();
}
