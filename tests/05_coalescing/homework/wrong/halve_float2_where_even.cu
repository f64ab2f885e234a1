// Two words at a time where the width is even, stride 2 where it is not.
// expect: halve efficiency you ask for every sector twice
// points: halve 5..94
#include "homework.cuh"

__global__ void halve(const float* in, float* out, int rows, int cols) {
  const int j = blockIdx.x * 32 + threadIdx.x;
  const int i = blockIdx.y * 8 + threadIdx.y;
  if (i >= rows / 2 || j >= cols / 2) return;
  const float* p = in + 2 * i * cols + 2 * j;
  float2 a, b;
  if (cols % 2 == 0) {
    a = *reinterpret_cast<const float2*>(p);
    b = *reinterpret_cast<const float2*>(p + cols);
  } else {
    a = make_float2(p[0], p[1]);
    b = make_float2(p[cols], p[cols + 1]);
  }
  out[i * (cols / 2) + j] = 0.25f * (a.x + a.y + b.x + b.y);
}

cudaError_t launch_halve(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  if (rows < 2 || cols < 2) return cudaSuccess;
  const dim3 blocks((cols / 2 + 31) / 32, (rows / 2 + 7) / 8);
  halve<<<blocks, dim3(32, 8), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}
