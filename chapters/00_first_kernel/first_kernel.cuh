// Brightens a picture: out[i] = sqrt(in[i]) for each of its pixels, 0 black and 1 white.
//
// The kernels of the steps, between two arrays instead of within one, so that a launch can be
// repeated.
#pragma once

#include <cuda_runtime.h>

// [one_thread]
/// All n pixels by one thread, one after the other. Launch it as <<<1, 1>>>.
__global__ void brighten_one_thread(const float* in, float* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = sqrtf(in[i]);
}
// [one_thread]

// [brighten]
/// A thread per pixel. Grid and block have one dimension, and together at least n threads.
__global__ void brighten(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;  // 0 .. n-1, and beyond in the last block
  if (i >= n) return;                                   // a thread without a pixel
  out[i] = sqrtf(in[i]);
}
// [brighten]

// [brighten_2d]
/// The same with an x and a y for each thread; the pixels lie row by row. Any block; the grid
/// covers width and height.
__global__ void brighten_2d(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  out[y * width + x] = sqrtf(in[y * width + x]);
}
// [brighten_2d]

/// The largest pictures: positions are ints, also those of the threads past the end.
constexpr int kMostPixels = 1 << 30;

/// Starts brighten_one_thread(). Each of these three does nothing if there are no pixels, returns
/// cudaErrorInvalidValue for a size that cannot be, else what the launch itself reports.
inline cudaError_t launch_brighten_one_thread(const float* in, float* out, int n,
                                              cudaStream_t stream = nullptr) {
  if (n < 0 || n > kMostPixels) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  brighten_one_thread<<<1, 1, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

// [launch]
/// Starts brighten() in blocks of `block` threads, as many as cover n pixels.
inline cudaError_t launch_brighten(const float* in, float* out, int n, int block,
                                   cudaStream_t stream = nullptr) {
  if (n < 0 || n > kMostPixels || block < 1) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;  // a grid of 0 blocks is an error
  brighten<<<(n - 1) / block + 1, block, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}
// [launch]

/// Starts brighten_2d() in blocks of block.x x block.y threads.
inline cudaError_t launch_brighten_2d(const float* in, float* out, int width, int height,
                                      dim3 block, cudaStream_t stream = nullptr) {
  if (width < 0 || height < 0 || block.x < 1 || block.y < 1) return cudaErrorInvalidValue;
  if (width == 0 || height == 0) return cudaSuccess;
  if (width > kMostPixels || height > kMostPixels / width) return cudaErrorInvalidValue;
  const dim3 grid((width - 1) / block.x + 1, (height - 1) / block.y + 1);
  brighten_2d<<<grid, block, 0, stream>>>(in, out, width, height);
  return cudaGetLastError();
}
