// expect: sums_by_key efficiency wavefronts of shared memory
// points: sums_by_key 5..97
// Right, but the counters are cleared and added up for every 32 words.
#include "homework.cuh"

__global__ void by_key(const int* keys, const float* values, float* sums, int rows, int cols) {
  __shared__ float mine[64][32];
  const int lane = threadIdx.x;
  const size_t row = blockIdx.x;
  float kept[2] = {};
  for (int c0 = 0; c0 < cols; c0 += 32) {
    for (int b = 0; b < 64; ++b) mine[b][lane] = 0.0f;
    if (c0 + lane < cols) mine[keys[row * cols + c0 + lane]][lane] = values[row * cols + c0 + lane];
    __syncthreads();
    for (int h = 0; h < 2; ++h)
      for (int i = 0; i < 32; ++i) kept[h] += mine[32 * h + lane][(i + lane) % 32];
    __syncthreads();
  }
  for (int h = 0; h < 2; ++h) sums[row * 64 + 32 * h + lane] = kept[h];
}

cudaError_t launch_sums_by_key(const int* keys, const float* values, float* sums, int rows, int cols,
                               cudaStream_t stream) {
  by_key<<<rows, 32, 0, stream>>>(keys, values, sums, rows, cols);
  return cudaGetLastError();
}
