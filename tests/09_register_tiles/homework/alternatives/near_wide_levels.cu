// Four levels per load, four samples per thread.
#include "homework.cuh"

constexpr int THREADS = 128;
constexpr int EACH = 4;

__global__ void nearest_level(const float* x, const float* levels, int* index, int n, int count) {
  __shared__ alignas(16) float level[MOST_LEVELS];
  for (int l = threadIdx.x; l < count; l += THREADS) level[l] = levels[l];
  for (int l = count + threadIdx.x; l < (count + 3) / 4 * 4; l += THREADS) level[l] = INFINITY;  // near to nothing
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
  for (int l = 0; l < count; l += 4) {
    const float4 values = *reinterpret_cast<const float4*>(&level[l]);
    const float four[4] = {values.x, values.y, values.z, values.w};
    for (int w = 0; w < 4; ++w)
      for (int s = 0; s < EACH; ++s) {
        const float distance = fabsf(sample[s] - four[w]);
        if (distance < least[s]) {
          least[s] = distance;
          nearest[s] = l + w;
        }
      }
  }
  for (int s = 0; s < EACH; ++s)
    if (first + s * THREADS < n) index[first + s * THREADS] = nearest[s];
}

cudaError_t launch_nearest_level(const float* x, const float* levels, int* index, int n, int count,
                                 cudaStream_t stream) {
  const int blocks = (n + THREADS * EACH - 1) / (THREADS * EACH);
  nearest_level<<<blocks, THREADS, 0, stream>>>(x, levels, index, n, count);
  return cudaGetLastError();
}
