// expect: record_sums findings host-pointer
// points: record_sums 5..85
// From record 32,768 on their number is negative.
#include "homework.cuh"

__device__ int place(int i, int j) { return i * 8 + j + i / 4; }
__global__ void k(const float* x, float* y, int n) {
  __shared__ float tile[288];
  const int lane = threadIdx.x;
  const short first = blockIdx.x * 32;
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
  k<<<(n + 31) / 32, 32, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
