// expect: nearest_level efficiency wavefronts of shared memory
// points: nearest_level 92..92
// The levels are sorted first, each with its number; then a sample finds its neighbours by halving.
#include "homework.cuh"

struct Level {
  float value;
  int number;
};

__device__ bool before(const Level& a, const Level& b) { return a.value < b.value || (a.value == b.value && a.number < b.number); }

__global__ void nearest(const float* x, const float* levels, int* index, int n, int count) {
  __shared__ Level sorted[MOST_LEVELS];
  int size = 1;
  while (size < count) size *= 2;
  for (int l = threadIdx.x; l < size; l += blockDim.x) sorted[l] = l < count ? Level{levels[l], l} : Level{INFINITY, MOST_LEVELS};
  __syncthreads();
  for (int run = 2; run <= size; run *= 2)  // Batcher's bitonic sort
    for (int step = run / 2; step > 0; step /= 2) {
      for (int l = threadIdx.x; l < size; l += blockDim.x)
        if (const int other = l ^ step; other > l && before(sorted[other], sorted[l]) == ((l & run) == 0)) {
          const Level keep = sorted[l];
          sorted[l] = sorted[other];
          sorted[other] = keep;
        }
      __syncthreads();
    }
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float s = x[i];
    int low = 0, high = count;  // the first level that is not below s
    while (low < high) {
      const int middle = (low + high) / 2;
      if (sorted[middle].value < s)
        low = middle + 1;
      else
        high = middle;
    }
    int best = -1;
    float least = INFINITY;
    if (low < count) best = sorted[low].number, least = fabsf(s - sorted[low].value);
    if (low > 0) {
      // of equal values below s the first counts
      int first = low - 1;
      while (first > 0 && sorted[first - 1].value == sorted[low - 1].value) --first;
      const float d = fabsf(s - sorted[first].value);
      if (d < least || (d == least && sorted[first].number < best)) best = sorted[first].number, least = d;
    }
    index[i] = s == s ? best : -1;
  }
}

cudaError_t launch_nearest_level(const float* x, const float* levels, int* index, int n, int count, cudaStream_t stream) {
  const int blocks = (n + 1023) / 1024;
  nearest<<<blocks < 1024 ? blocks : 1024, 256, 0, stream>>>(x, levels, index, n, count);
  return cudaGetLastError();
}
