// expect: record_sums efficiency neighbouring threads are
// points: record_sums 5..97
// Right, without a tile: neighbouring lanes are on neighbouring records, 32 bytes apart.
#include "homework.cuh"

__global__ void record_sums(const float* x, float* y, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < 8; ++j) sum += x[8 * i + j];
  y[i] = sum;
}

cudaError_t launch_record_sums(const float* x, float* y, int n, cudaStream_t stream) {
  record_sums<<<(n + 31) / 32, 32, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
