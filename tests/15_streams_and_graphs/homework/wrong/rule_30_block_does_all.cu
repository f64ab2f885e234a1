// expect: rule_30 efficiency launches
// points: rule_30 60..70
// One block does all steps of a small array in one launch, and there is no graph.
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

// One block, all steps but the first.
__global__ void steps_of_block(int* a, int* b, int n, int steps) {
  for (int s = 0; s < steps; ++s) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      const int left = a[i > 0 ? i - 1 : n - 1], right = a[i < n - 1 ? i + 1 : 0];
      b[i] = left ^ (a[i] | right);
    }
    __syncthreads();
    int* const c = a;
    a = b, b = c;
  }
}

cudaError_t launch_rule_30(const int* from, int* to, int* work, int n, int steps, cudaStream_t stream) {
  int* a = steps % 2 == 1 ? to : work;
  int* b = steps % 2 == 1 ? work : to;
  const cudaError_t error = launch_step(from, a, n, stream);
  if (error != cudaSuccess || steps == 1) return error;
  steps_of_block<<<1, 256, 0, stream>>>(a, b, n, steps - 1);
  return cudaGetLastError();
}
