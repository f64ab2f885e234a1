// The window is as long as the launch says; the block fills it in rounds, and sums without naming five words.
#include "homework.cuh"

__global__ void sum_of_window(const float* in, float* out, long long n) {
  extern __shared__ float window[];
  const long long begin = static_cast<long long>(blockIdx.x) * blockDim.x;
  for (unsigned w = threadIdx.x; w < blockDim.x + 4; w += blockDim.x) {
    const long long from = begin + w - 2;
    window[w] = (from < 0 || from >= n) ? 0.f : in[from];
  }
  __syncthreads();
  const long long mine = begin + threadIdx.x;
  if (mine >= n) return;
  float total = 0.f;
#pragma unroll
  for (int offset = 0; offset != 5; ++offset) total += window[threadIdx.x + offset];
  out[mine] = total;
}

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  const unsigned threads = 512;
  const unsigned blocks = (static_cast<unsigned>(n) + threads - 1) / threads;
  sum_of_window<<<blocks, threads, (threads + 4) * sizeof(float), stream>>>(x, y, n);
  return cudaGetLastError();
}
