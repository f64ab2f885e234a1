// The pieces of `from` go through shared memory.
#include "homework.cuh"

__global__ void copy_part(const float* from, float* to, int n, int head, int shift) {
  __shared__ float4 s[257];
  const int first = 256 * blockIdx.x, t = threadIdx.x;
  for (int i = t; i < (shift ? 257 : 256); i += 256) {
    const int k = head - shift + 4 * (first + i);
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (k >= 0 && k + 4 <= n) {
      v = *reinterpret_cast<const float4*>(from + k);
    } else {
      if (k >= 0 && k < n) v.x = from[k];
      if (k + 1 >= 0 && k + 1 < n) v.y = from[k + 1];
      if (k + 2 >= 0 && k + 2 < n) v.z = from[k + 2];
      if (k + 3 >= 0 && k + 3 < n) v.w = from[k + 3];
    }
    s[i] = v;
  }
  __syncthreads();
  const int at = head + 4 * (first + t);
  if (at + 4 <= n) {
    const float* words = reinterpret_cast<const float*>(s) + 4 * t + shift;
    *reinterpret_cast<float4*>(to + at) = make_float4(words[0], words[1], words[2], words[3]);
  } else {
    for (int k = at; k < n && k < at + 4; ++k) to[k] = from[k];
  }
  if (first + t < head) to[t] = from[t];
}

cudaError_t launch_copy_part(const float* from, float* to, int n, cudaStream_t stream) {
  int head = 0;
  while (head < n && reinterpret_cast<size_t>(to + head) % 16 != 0) ++head;
  const int shift = reinterpret_cast<size_t>(from + head) % 16 / 4;
  copy_part<<<(n + 1023) / 1024, 256, 0, stream>>>(from, to, n, head, shift);
  return cudaGetLastError();
}
