// All blocks are in y: more than 65,535 of them where x has more than 8,388,480 words.
// expect: moving_sum findings at most 65,535 blocks in y
// points: moving_sum 75..80
#include "homework.cuh"

__global__ void moving_sum(const float* x, float* y, int n) {
  __shared__ float s[132];
  const int t = threadIdx.x, i = blockIdx.y * 128 + t;
  s[t + 2] = i < n ? x[i] : 0.0f;
  if (t < 2) s[t] = i >= 2 ? x[i - 2] : 0.0f;
  if (t >= 126) s[t + 4] = i + 2 < n ? x[i + 2] : 0.0f;
  __syncthreads();
  if (i < n) y[i] = s[t] + s[t + 1] + s[t + 2] + s[t + 3] + s[t + 4];
}

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  moving_sum<<<dim3(1, (n + 127) / 128), 128, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
