// Right, 4 bytes at a time.
// expect: copy_part efficiency if each lane loads 4 bytes
// points: copy_part 5..96
#include "homework.cuh"

__global__ void copy_part(const float* from, float* to, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) to[i] = from[i];
}

cudaError_t launch_copy_part(const float* from, float* to, int n, cudaStream_t stream) {
  copy_part<<<(n + 255) / 256, 256, 0, stream>>>(from, to, n);
  return cudaGetLastError();
}
