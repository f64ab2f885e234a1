// No head: everything begins at a multiple of 16 bytes, they thought.
// expect: copy_part findings misaligned
// points: copy_part 12..21
#include "homework.cuh"

__global__ void copy_part(const float* from, float* to, int n) {
  const int k = 4 * (blockIdx.x * 256 + threadIdx.x);
  if (k + 4 <= n)
    *reinterpret_cast<float4*>(to + k) = *reinterpret_cast<const float4*>(from + k);
  else
    for (int i = k; i < n; ++i) to[i] = from[i];
}

cudaError_t launch_copy_part(const float* from, float* to, int n, cudaStream_t stream) {
  copy_part<<<(n + 1023) / 1024, 256, 0, stream>>>(from, to, n);
  return cudaGetLastError();
}
