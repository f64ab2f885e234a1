// Kernels of lesson 16. Each runs on one device and touches that device's memory alone,
// except copy(), which may read or write another's.
#pragma once

#include <cuda_runtime.h>

// [add]
/// sum[i] += more[i]. A thread per element.
__global__ void add(int n, const float* __restrict__ more, float* __restrict__ sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] += more[i];
}
// [add]

/// to[i] = from[i]. A thread per element.
__global__ void copy(int n, const float* __restrict__ from, float* __restrict__ to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

// [sum]
/// Adds x[0] + ... + x[n - 1] to *total: each thread adds many elements, each warp adds up its
/// threads, and its first thread adds that to the total. Lesson 14 does it in less time.
__global__ void sum(int n, const float* __restrict__ x, float* total) {
  float mine = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < unsigned(n);
       i += gridDim.x * blockDim.x)
    mine += x[i];
  for (int other = 16; other > 0; other /= 2) mine += __shfl_down_sync(~0u, mine, other);
  if (threadIdx.x % 32 == 0) atomicAdd(total, mine);
}
// [sum]

// [heat_step]
/// One step of heat in a plate: each point becomes the mean of its four neighbours, and the points
/// at the plate's edges keep their value. A device has `rows` rows of `width` floats, and one more
/// row on either side, which belongs to a neighbour. Computes row `first`, first + stride, ... below
/// rows; row 0 is the device's own first one. above, below: whether a row of the plate is there.
__global__ void heat_step(int first, int stride, int rows, int width, bool above, bool below,
                          const float* __restrict__ from, float* __restrict__ to) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = first + stride * blockIdx.y;
  if (col >= width || row >= rows) return;
  const size_t i = size_t(row + 1) * width + col;  // one row of a neighbour's comes first
  const bool edge =
      col == 0 || col == width - 1 || (row == 0 && !above) || (row == rows - 1 && !below);
  to[i] = edge ? from[i] : ((from[i - width] + from[i + width]) + (from[i - 1] + from[i + 1])) / 4;
}
// [heat_step]

/// n may be 0, and at most 2^31 - 256. The current device must be the stream's.
inline cudaError_t launch_add(int n, const float* more, float* sum, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  add<<<(n + 255) / 256, 256, 0, stream>>>(n, more, sum);
  return cudaGetLastError();
}
inline cudaError_t launch_copy(int n, const float* from, float* to, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  copy<<<(n + 255) / 256, 256, 0, stream>>>(n, from, to);
  return cudaGetLastError();
}
/// *total must be 0 before. At most `blocks` blocks of 256 threads.
inline cudaError_t launch_sum(int n, int blocks, const float* x, float* total,
                              cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const int needed = (n - 1) / 256 + 1, grid = needed < blocks ? needed : blocks;
  sum<<<grid, 256, 0, stream>>>(n, x, total);
  return cudaGetLastError();
}
/// Rows first, first + stride, ...: `count` of them, 0 to 65,535.
inline cudaError_t launch_heat_step(int first, int stride, int count, int rows, int width,
                                    bool above, bool below, const float* from, float* to,
                                    cudaStream_t stream) {
  if (count == 0 || width == 0) return cudaSuccess;
  const dim3 grid((width - 1) / 256 + 1, count);
  heat_step<<<grid, 256, 0, stream>>>(first, stride, rows, width, above, below, from, to);
  return cudaGetLastError();
}
