// expect: record_sums findings out-of-bounds
// points: record_sums 5..85
// The last block writes past the end of y.
#include "homework.cuh"

__device__ int place(int i, int j) { return 8 * i + j + i / 4; }

__global__ void record_sums(const float* x, float* y, int n) {
  __shared__ float tile[32 * 8 + 32];
  const int lane = threadIdx.x, first = blockIdx.x * 32;
  for (int w = lane; w < 256; w += 32) tile[place(w / 8, w % 8)] = first + w / 8 < n ? x[first * 8 + w] : 0.0f;
  __syncthreads();
  float sum = 0.0f;
  for (int j = 0; j < 8; ++j) sum += tile[place(lane, j)];
  y[first + lane] = sum;
}

cudaError_t launch_record_sums(const float* x, float* y, int n, cudaStream_t stream) {
  record_sums<<<(n + 31) / 32, 32, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
