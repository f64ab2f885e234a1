// The weights are an array of host code, which a GPU doesn't have: nvcc says "undefined in device code".
// expect: moving_sum compiles an array of host code
// points: moving_sum 0..0
#include "homework.cuh"

const float kWeights[5] = {1, 1, 1, 1, 1};

__global__ void moving_sum(const float* x, float* y, int n) {
  __shared__ float s[132];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t + 2] = i < n ? x[i] : 0.0f;
  if (t < 2) s[t] = i >= 2 ? x[i - 2] : 0.0f;
  if (t >= 126) s[t + 4] = i + 2 < n ? x[i + 2] : 0.0f;
  __syncthreads();
  float sum = 0.0f;
  for (int d = 0; d < 5; ++d) sum += kWeights[d] * s[t + d];
  if (i < n) y[i] = sum;
}

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  moving_sum<<<(n + 127) / 128, 128, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
