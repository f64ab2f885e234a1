// No tile at all: a thread for each word, and eight lanes add theirs up. A warp has four sums to store.
#include "homework.cuh"

__global__ void record_sums(const float* x, float* y, int n) {
  const int w = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = w < 8 * n ? x[w] : 0.0f;
  for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d, 8);
  if (w % 8 == 0 && w < 8 * n) y[w / 8] = sum;
}

cudaError_t launch_record_sums(const float* x, float* y, int n, cudaStream_t stream) {
  record_sums<<<n / 16 + 1, 128, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
