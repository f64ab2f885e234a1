// Of levels equally near, one is chosen at random: rand() is a function of host code, and nvcc refuses it.
// expect: nearest_level compiles which is a function of host code
// points: nearest_level 0..0
#include "homework.cuh"

#include <cstdlib>

__global__ void nearest(const float* x, const float* levels, int* index, int n, int count) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  int best = -1;
  float least = INFINITY;
  for (int l = 0; l < count; ++l) {
    const float d = fabsf(x[i] - levels[l]);
    if (d < least || (d == least && rand() % 2 == 0)) least = d, best = l;
  }
  index[i] = best;
}

cudaError_t launch_nearest_level(const float* x, const float* levels, int* index, int n, int count,
                                 cudaStream_t stream) {
  nearest<<<(n + 255) / 256, 256, 0, stream>>>(x, levels, index, n, count);
  return cudaGetLastError();
}
