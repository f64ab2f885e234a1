// expect: nearest_level findings out-of-bounds
// points: nearest_level 10..18
// Stores past the last index.
#include "homework.cuh"

constexpr int THREADS = 128;
constexpr int EACH = 8;

__global__ void nearest_level(const float* x, const float* levels, int* index, int n, int count) {
  __shared__ float level[MOST_LEVELS];
  for (int l = threadIdx.x; l < count; l += THREADS) level[l] = levels[l];
  __syncthreads();
  const int first = blockIdx.x * THREADS * EACH + threadIdx.x;
  float sample[EACH], least[EACH];
  int nearest[EACH];
  for (int s = 0; s < EACH; ++s) {
    const int i = first + s * THREADS;
    sample[s] = i < n ? x[i] : 0.0f;
    least[s] = INFINITY;
    nearest[s] = -1;
  }
  for (int l = 0; l < count; ++l) {
    const float value = level[l];
    for (int s = 0; s < EACH; ++s) {
      const float distance = fabsf(sample[s] - value);
      if (distance < least[s]) {
        least[s] = distance;
        nearest[s] = l;
      }
    }
  }
  for (int s = 0; s < EACH; ++s)
    index[first + s * THREADS] = nearest[s];
}

cudaError_t launch_nearest_level(const float* x, const float* levels, int* index, int n, int count,
                                 cudaStream_t stream) {
  const int blocks = (n + THREADS * EACH - 1) / (THREADS * EACH);
  nearest_level<<<blocks, THREADS, 0, stream>>>(x, levels, index, n, count);
  return cudaGetLastError();
}
