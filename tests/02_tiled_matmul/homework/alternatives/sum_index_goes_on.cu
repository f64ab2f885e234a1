// Two loops with one index, which the first one sets, and a number that is set and used under the same condition: nothing is
// to be warned of.
#include "homework.cuh"

constexpr int kWords = 128, kReach = 2;

__global__ void moving_sum(const float* x, float* y, int n) {
  __shared__ float s[kWords + 2 * kReach];
  const int first = blockIdx.x * kWords - kReach;
  int k;
  for (k = threadIdx.x; k < kWords; k += kWords) s[k] = first + k >= 0 && first + k < n ? x[first + k] : 0.0f;
  for (; k < kWords + 2 * kReach; k += kWords) s[k] = first + k < n ? x[first + k] : 0.0f;
  const int i = first + kReach + threadIdx.x;
  int reach;
  if (i < n) reach = kReach;
  __syncthreads();
  if (i >= n) return;
  int d;
  float sum = 0.0f, next;
  for (d = 0; d < reach; ++d) sum += s[threadIdx.x + d];
  do {
    next = s[threadIdx.x + d];
    sum += next;
  } while (++d <= 2 * kReach);
  y[i] = sum;
}

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  moving_sum<<<(n + kWords - 1) / kWords, kWords, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
