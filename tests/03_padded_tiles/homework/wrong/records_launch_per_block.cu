// expect: record_sums efficiency launches
// points: record_sums 5..97
// Right, but every 32 records are a launch of their own.
#include "homework.cuh"

__device__ int place(int i, int j) { return i * 8 + j + i / 4; }
__global__ void k(const float* x, float* y, int n) {
  __shared__ float tile[288];
  const int lane = threadIdx.x, first = blockIdx.x * 32;
  for (int w = lane; w < 256; w += 32) {
    float word = 0.0f;
    if (first * 8 + w < 8 * n) word = x[first * 8 + w];
    tile[place(w / 8, w % 8)] = word;
  }
  __syncthreads();
  float sum = 0.0f;
  for (int j = 0; j < 8; ++j) sum += tile[place(lane, j)];
  if (first + lane < n) y[first + lane] = sum;
}
cudaError_t launch_record_sums(const float* x, float* y, int n, cudaStream_t stream) {
  for (int b = 0; b < n; b += 32) k<<<1, 32, 0, stream>>>(x + 8 * b, y + b, n - b);
  return cudaGetLastError();
}
