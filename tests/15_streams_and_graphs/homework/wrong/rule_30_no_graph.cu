// expect: rule_30 efficiency launches that host code asked for
// points: rule_30 64..66
// A launch for each step.
#include "homework.cuh"

__global__ void step(const int* from, int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int left = from[i > 0 ? i - 1 : n - 1], right = from[i < n - 1 ? i + 1 : 0];
  to[i] = left ^ (from[i] | right);
}

cudaError_t launch_step(const int* from, int* to, int n, cudaStream_t stream) {
  step<<<(n + 255) / 256, 256, 0, stream>>>(from, to, n);
  return cudaGetLastError();
}

cudaError_t launch_rule_30(const int* from, int* to, int* work, int n, int steps, cudaStream_t stream) {
  int* a = steps % 2 == 1 ? to : work;
  int* b = steps % 2 == 1 ? work : to;
  cudaError_t error = launch_step(from, a, n, stream);
  for (int s = 1; s < steps && error == cudaSuccess; ++s)
    error = s % 2 == 1 ? launch_step(a, b, n, stream) : launch_step(b, a, n, stream);
  return error;
}
