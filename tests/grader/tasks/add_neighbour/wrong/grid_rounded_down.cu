// expect: add_neighbour visible no kernel was launched
// expect: add_neighbour hidden 0
// points: add_neighbour 5..15
#include "homework.cuh"

__global__ void kernel(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + (i + 1 < n ? x[i + 1] : 0.0f);
}

cudaError_t launch_add_neighbour(const float* x, float* y, int n, cudaStream_t stream) {
  if (n >= 256) kernel<<<n / 256, 256, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
