// expect: add_neighbour findings out-of-bounds
// points: add_neighbour 50..80
#include "homework.cuh"

__global__ void kernel(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[i + 1];
}

cudaError_t launch_add_neighbour(const float* x, float* y, int n, cudaStream_t stream) {
  kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
