// <x/*y> is a header's name here, and no comment begins in it.
// gains: 0 #line
// unchecked: 85
#include "homework.cuh"
#define P(a, b) a##b
#if P(__has_, include)(<x/*y>)
#endif
# 1 "/usr/include/hidden.h" 3
inline void nothing() { asm volatile("nop"); }
# 7 "x.cu"
/* */
__global__ void sums(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0;
  for (int j = i - 2; j <= i + 2; ++j) if (j >= 0 && j < n) s += x[j];
  y[i] = s;
}
cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t st) { nothing(); sums<<<(n + 127) / 128, 128, 0, st>>>(x, y, n); return cudaGetLastError(); }
