// Names a file of what the compiler knows.
// gains: 0 pch_preprocess
// unchecked: 5
// unchecked with clang++: 85 (which does not know this pragma, and compiles an ordinary file)
#pragma GCC pch_preprocess "../../../../build/sim/homework/prelude/prelude.h.gch"
#include "homework.cuh"
__global__ void sums(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0;
  for (int j = i - 2; j <= i + 2; ++j) if (j >= 0 && j < n) s += x[j];
  y[i] = s;
}
cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t st) { sums<<<(n + 127) / 128, 128, 0, st>>>(x, y, n); return cudaGetLastError(); }
