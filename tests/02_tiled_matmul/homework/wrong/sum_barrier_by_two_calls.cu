// The barrier is in a function, and the threads come to it by different calls: on a GPU these may be two barriers.
// expect: moving_sum findings divergent-barrier
// points: moving_sum 60..80
#include "homework.cuh"

constexpr int SPAN = 128;  // outputs of a block, one for each of its threads
constexpr int HALO = 2;    // further words that it needs on either side

__device__ void keep_and_wait(float* s, int place, float value) {
  s[place] = value;
  __syncthreads();
}

__global__ void moving_sum(const float* x, float* y, int n) {
  __shared__ float s[SPAN + 2 * HALO];  // s[HALO + t] = x[first + t]
  const int t = threadIdx.x;
  const int first = blockIdx.x * SPAN;  // this block's first output
  const float mine = first + t < n ? x[first + t] : 0.0f;
  if (t < HALO) {
    s[t] = first > 0 ? x[first - HALO + t] : 0.0f;
    s[HALO + SPAN + t] = first + SPAN + t < n ? x[first + SPAN + t] : 0.0f;
    keep_and_wait(s, HALO + t, mine);
  } else {
    keep_and_wait(s, HALO + t, mine);
  }

  float sum = 0.0f;
  for (int d = 0; d <= 2 * HALO; ++d) sum += s[t + d];
  if (first + t < n) y[first + t] = sum;
}

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  moving_sum<<<(n + SPAN - 1) / SPAN, SPAN, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
