// A grid that is capped, and threads that go on from there: near 2^31 elements `i += stride` is more than an int can hold.
// expect: moving_sum efficiency words that threads loaded
// expect with g++: moving_sum findings large-sizes
// expect with g++: moving_sum findings y[i] = sum
// points: moving_sum 30..85
#include "homework.cuh"

__global__ void moving_sum(const float* x, float* y, int n) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    float sum = 0.0f;
    for (int d = -2; d <= 2; ++d)
      if (i + d >= 0 && i + d < n) sum += x[i + d];
    y[i] = sum;
  }
}

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  const int blocks = n / 256 + 1;
  moving_sum<<<blocks < 65535 ? blocks : 65535, 256, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
