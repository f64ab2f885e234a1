// Blocks of 256, dynamic shared memory, the halo loaded by a loop, another order of adding.
#include "homework.cuh"

__global__ void five(const float* x, float* y, int n) {
  extern __shared__ float s[];
  const int begin = int(blockIdx.x * blockDim.x) - 2;
  for (int i = threadIdx.x; i < int(blockDim.x) + 4; i += blockDim.x)
    s[i] = begin + i >= 0 && begin + i < n ? x[begin + i] : 0.0f;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float* w = s + threadIdx.x;
  y[i] = ((w[0] + w[4]) + (w[1] + w[3])) + w[2];
}

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  five<<<(n + 255) / 256, 256, 260 * sizeof(float), stream>>>(x, y, n);
  return cudaGetLastError();
}
