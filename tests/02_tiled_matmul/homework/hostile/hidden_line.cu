// A comment that only a reader sees who takes the first quote for a digit separator; it would hide what follows from the
// look at the source, which takes it for a system header.
// gains: 0 #line
// unchecked: 85
#include "homework.cuh"
inline int unused() { char16_t c = u'"'; const char* t = " /*"; return c + (t != nullptr); }
# 1 "/usr/include/hidden.h" 3
__attribute__((weak)) int hidden;
# 8 "x.cu"
inline int unused2() { const char* t = "*/"; return t != nullptr; }
__global__ void sums(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0;
  for (int j = i - 2; j <= i + 2; ++j) if (j >= 0 && j < n) s += x[j];
  y[i] = s;
}
cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t st) { sums<<<(n + 127) / 128, 128, 0, st>>>(x, y, n); return cudaGetLastError(); }
