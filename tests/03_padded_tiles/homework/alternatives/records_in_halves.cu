// No tile at all: a thread takes its record as two words of 16 bytes. Each sector is asked for twice.
#include "homework.cuh"

__global__ void record_sums(const float4* __restrict__ x, float* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 a = x[2 * i], b = x[2 * i + 1];
  y[i] = a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w;
}

cudaError_t launch_record_sums(const float* x, float* y, int n, cudaStream_t stream) {
  record_sums<<<(n + 255) / 256, 256, 0, stream>>>(reinterpret_cast<const float4*>(x), y, n);
  return cudaGetLastError();
}
