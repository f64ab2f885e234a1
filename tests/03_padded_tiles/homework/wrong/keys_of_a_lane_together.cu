// expect: sums_by_key efficiency bank conflict
// points: sums_by_key 5..97
// Right, but the counters of a lane lie side by side: the bank depends on the key alone.
#include "homework.cuh"

__global__ void by_key(const int* keys, const float* values, float* sums, int rows, int cols) {
  __shared__ float mine[32][65];
  const int lane = threadIdx.x;
  const size_t row = blockIdx.x;
  for (int b = 0; b < 64; ++b) mine[lane][b] = 0.0f;
  for (int c = lane; c < cols; c += 32) mine[lane][keys[row * cols + c]] += values[row * cols + c];
  __syncthreads();
  for (int b = lane; b < 64; b += 32) {
    float sum = 0.0f;
    for (int i = 0; i < 32; ++i) sum += mine[i][b];
    sums[row * 64 + b] = sum;
  }
}

cudaError_t launch_sums_by_key(const int* keys, const float* values, float* sums, int rows, int cols,
                               cudaStream_t stream) {
  by_key<<<rows, 32, 0, stream>>>(keys, values, sums, rows, cols);
  return cudaGetLastError();
}
