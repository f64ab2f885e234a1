// Kernels of lesson 15. What they compute hardly matters: flips() is work that takes as long as you
// ask for, step() is work that takes no time at all.
#pragma once

#include <cuda_runtime.h>

// [flips]
/// out[i] = in[i] after x = 1 - x, so many times. A thread per element.
__global__ void flips(int n, int times, const float* __restrict__ in, float* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  for (int t = 0; t < times; ++t) x = 1 - x;
  out[i] = x;
}
// [flips]

// [step]
/// x[i] = x[i] / 2 + add. A thread per element.
__global__ void step(int n, float add, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] / 2 + add;
}
// [step]

/// n may be 0, and at most 2^31 - 256.
inline cudaError_t launch_flips(int n, int times, const float* in, float* out,
                                cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  flips<<<(n + 255) / 256, 256, 0, stream>>>(n, times, in, out);
  return cudaGetLastError();
}
inline cudaError_t launch_step(int n, float add, float* x, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  step<<<(n + 255) / 256, 256, 0, stream>>>(n, add, x);
  return cudaGetLastError();
}
