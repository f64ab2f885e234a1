// Right, but every word is fetched five times.
// expect: moving_sum efficiency words that threads loaded
// points: moving_sum 80..88
#include "homework.cuh"

__global__ void moving_sum(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = i - 2; j <= i + 2; ++j)
    if (j >= 0 && j < n) sum += x[j];
  y[i] = sum;
}

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  moving_sum<<<(n + 127) / 128, 128, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
