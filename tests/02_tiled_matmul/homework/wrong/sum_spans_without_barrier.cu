// expect: moving_sum findings race-shared
// points: moving_sum 51..60
// Each block has several spans, and nothing stands between the sums of one and the loads of the next. With fewer spans than
// blocks nobody sees it.
#include "homework.cuh"

__global__ void ms(const float* x, float* y, int n) {
  __shared__ float s[256 + 4];
  for (int first = blockIdx.x * 256; first < n; first += gridDim.x * 256) {
    int t = threadIdx.x;
    s[t] = first - 2 + t >= 0 && first - 2 + t < n ? x[first - 2 + t] : 0;
    if (t < 4) s[256 + t] = first + 254 + t < n ? x[first + 254 + t] : 0;
    __syncthreads();
    if (first + t < n) y[first + t] = ((s[t] + s[t + 4]) + (s[t + 1] + s[t + 3])) + s[t + 2];
  }
}
cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  ms<<<64, 256, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
