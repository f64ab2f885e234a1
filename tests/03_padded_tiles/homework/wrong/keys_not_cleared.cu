// expect: sums_by_key findings uninitialised-shared
// points: sums_by_key 5..85
// Nobody clears the counters.
#include "homework.cuh"

__global__ void by_key(const int* keys, const float* values, float* sums, int rows, int cols) {
  __shared__ float mine[64][32];
  const int lane = threadIdx.x;
  const size_t row = blockIdx.x;
  for (int c = lane; c < cols; c += 32) mine[keys[row * cols + c]][lane] += values[row * cols + c];
  __syncthreads();
  for (int b = lane; b < 64; b += 32) {
    float sum = 0.0f;
    for (int i = 0; i < 32; ++i) sum += mine[b][(i + lane) % 32];
    sums[row * 64 + b] = sum;
  }
}

cudaError_t launch_sums_by_key(const int* keys, const float* values, float* sums, int rows, int cols,
                               cudaStream_t stream) {
  by_key<<<rows, 32, 0, stream>>>(keys, values, sums, rows, cols);
  return cudaGetLastError();
}
