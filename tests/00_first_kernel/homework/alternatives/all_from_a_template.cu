// As an editor's template begins: CUDA's headers in quotation marks. One task by a lambda, one with its kernel below.
#include "homework.cuh"

#include "cuda_runtime.h"
#include "device_launch_parameters.h"

#include <math.h>
#include <stdio.h>

template <class F>
__global__ void for_each_index(int n, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}

cudaError_t launch_negative(const float* in, float* out, int n, cudaStream_t stream) {
  for_each_index<<<(n + 255) / 256, 256, 0, stream>>>(n, [=] __device__(int i) { out[i] = 1 - in[i]; });
  return cudaGetLastError();
}

__global__ void mirrorKernel(const float* in, float* out, int width, int height);

cudaError_t launch_mirror(const float* in, float* out, int width, int height, cudaStream_t stream) {
  dim3 threadsPerBlock(32, 32);
  dim3 blocksPerGrid((unsigned)ceil(width / 32.0), (unsigned)ceil(height / 32.0), 1);
  mirrorKernel<<<blocksPerGrid, threadsPerBlock, 0, stream>>>(in, out, width, height);
  cudaError_t cudaStatus = cudaGetLastError();
  if (cudaStatus != cudaSuccess) fprintf(stderr, "launch failed: %s\n", cudaGetErrorString(cudaStatus));
  return cudaStatus;
}

__global__ void mirrorKernel(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[(size_t)y * width + x] = in[(size_t)y * width + width - 1 - x];
}
