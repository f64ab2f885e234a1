// Two arrays per thread, distance and number; the levels arrive in rounds.
#include "homework.cuh"

constexpr unsigned kThreads = 128, kEach = 8;

__global__ void classify(const float* __restrict__ x, const float* __restrict__ levels, int* __restrict__ index,
                         unsigned n, int count) {
  __shared__ float level[MOST_LEVELS];
  for (int l = int(threadIdx.x); l < count; l += int(kThreads)) level[l] = levels[l];
  __syncthreads();
  const unsigned first = blockIdx.x * kThreads * kEach + threadIdx.x;
  float sample[kEach], distance[kEach];
  int number[kEach];
#pragma unroll
  for (unsigned e = 0; e < kEach; ++e) {
    const unsigned i = first + e * kThreads;
    sample[e] = i < n ? x[i] : 0.0f;
    distance[e] = INFINITY;
    number[e] = -1;
  }
  for (int l = 0; l < count; ++l) {
    const float here = level[l];
#pragma unroll
    for (unsigned e = 0; e < kEach; ++e) {
      const float d = fabsf(sample[e] - here);
      if (d < distance[e]) {
        distance[e] = d;
        number[e] = l;
      }
    }
  }
#pragma unroll
  for (unsigned e = 0; e < kEach; ++e)
    if (first + e * kThreads < n) index[first + e * kThreads] = number[e];
}

cudaError_t launch_nearest_level(const float* x, const float* levels, int* index, int n, int count,
                                 cudaStream_t stream) {
  const unsigned per_block = kThreads * kEach;
  classify<<<(unsigned(n) + per_block - 1) / per_block, kThreads, 0, stream>>>(x, levels, index, unsigned(n), count);
  return cudaGetLastError();
}
