// Prints on host and device, uses the standard library, scratch memory, constants, atomics and shuffles: all allowed.
#include <cstdio>
#include <iostream>
#include <vector>
#include "homework.cuh"
__constant__ float one = 1.0f;
__device__ int counter;
__global__ void sums(const float* x, float* y, int n) {
  __shared__ float s[132];
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    printf("hello %d\n", n);
    atomicAdd(&counter, 1);
  }
  int first = blockIdx.x * 128 - 2;
  if (threadIdx.x < 32)
    for (int i = threadIdx.x; i < 132; i += 32) {
      int j = first + i;
      if (j >= 0 && j < n)
        s[i] = x[j];
      else
        s[i] = 0;
    }
  __syncthreads();
  int i = first + 2 + threadIdx.x;
  float v = 0;
  for (int d = 0; d < 5; ++d) v += s[threadIdx.x + d];
  if (i < n) y[i] = v * one;
  __syncwarp();
  float q = __shfl_down_sync(0xffffffffu, v, 1);
  if (q == 12345.f) y[0] = q;
}
cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t st) {
  std::vector<int> v{1, 2, 3};
  v.push_back(n);
  static int calls = 0;
  ++calls;
  std::cout << "calls " << calls << v[0] << std::endl;
  float* scratch;
  cudaMalloc(&scratch, sizeof(float) * n);
  cudaMemsetAsync(scratch, 0, sizeof(float) * n, st);
  sums<<<(n + 127) / 128, 128, 0, st>>>(x, y, n);
  std::printf("%s\n", cudaGetErrorString(cudaPeekAtLastError()));
  cudaFree(scratch);
  return cudaGetLastError();
}
