// The right halo of the last block is read from past the end of x.
// expect: moving_sum findings past its end: x has
// points: moving_sum 75..80
#include "homework.cuh"

constexpr int SPAN = 128;  // outputs of a block, one for each of its threads
constexpr int HALO = 2;    // further words that it needs on either side

__global__ void moving_sum(const float* x, float* y, int n) {
  __shared__ float s[SPAN + 2 * HALO];  // s[HALO + t] = x[first + t]
  const int t = threadIdx.x;
  const int first = blockIdx.x * SPAN;  // this block's first output
  s[HALO + t] = first + t < n ? x[first + t] : 0.0f;
  // The first threads have a second job. On the left only the array's start can be missing, on the right only its end.
  if (t < HALO) s[t] = first > 0 ? x[first - HALO + t] : 0.0f;
  if (t < HALO) s[HALO + SPAN + t] = x[first + SPAN + t];
  __syncthreads();  // a thread reads words that its neighbours wrote

  float sum = 0.0f;
  for (int d = 0; d <= 2 * HALO; ++d) sum += s[t + d];
  if (first + t < n) y[first + t] = sum;
}

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  moving_sum<<<(n + SPAN - 1) / SPAN, SPAN, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
