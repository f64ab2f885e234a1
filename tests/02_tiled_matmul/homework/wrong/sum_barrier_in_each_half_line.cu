// One line, two barriers: `if (...) __syncthreads(); else __syncthreads();` is not one barrier for all.
// expect: moving_sum findings divergent-barrier
// points: moving_sum 60..80
#include "homework.cuh"

constexpr int SPAN = 128;  // outputs of a block, one for each of its threads
constexpr int HALO = 2;    // further words that it needs on either side

__global__ void moving_sum(const float* x, float* y, int n) {
  __shared__ float s[SPAN + 2 * HALO];  // s[HALO + t] = x[first + t]
  const int t = threadIdx.x;
  const int first = blockIdx.x * SPAN;  // this block's first output
  s[HALO + t] = first + t < n ? x[first + t] : 0.0f;
  if (t < HALO) s[t] = first > 0 ? x[first - HALO + t] : 0.0f;
  if (t < HALO) s[HALO + SPAN + t] = first + SPAN + t < n ? x[first + SPAN + t] : 0.0f;
  if (t < HALO) __syncthreads(); else __syncthreads();

  float sum = 0.0f;
  for (int d = 0; d <= 2 * HALO; ++d) sum += s[t + d];
  if (first + t < n) y[first + t] = sum;
}

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  moving_sum<<<(n + SPAN - 1) / SPAN, SPAN, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
