// Stores of 16 bytes, loads of 4 bytes with stride 4.
// expect: copy_part efficiency requests of loads
// points: copy_part 5..96
#include "homework.cuh"

__global__ void copy_part(const float* from, float* to, int n, int head) {
  const int t = blockIdx.x * 256 + threadIdx.x;
  const int k = head + 4 * t;
  if (k + 4 <= n)
    *reinterpret_cast<float4*>(to + k) = make_float4(from[k], from[k + 1], from[k + 2], from[k + 3]);
  else
    for (int i = k; i < n; ++i) to[i] = from[i];
  if (t < head) to[t] = from[t];
}

cudaError_t launch_copy_part(const float* from, float* to, int n, cudaStream_t stream) {
  const int past = reinterpret_cast<size_t>(to) / sizeof(float) % 4;
  copy_part<<<(n + 1023) / 1024, 256, 0, stream>>>(from, to, n, min(n, (4 - past) % 4));
  return cudaGetLastError();
}
