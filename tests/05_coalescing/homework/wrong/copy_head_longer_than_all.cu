// expect: copy_part visible it must stay as it was
// points: copy_part 5..48
// Fewer words than there are before the first multiple of 16 bytes: the head is longer than the whole.
#include "homework.cuh"

__global__ void cp(const float* from, float* to, int n, int head) {
  __shared__ float4 buf[129];
  float* s = (float*)buf;
  const float* f = from + head;
  int body = (n - head) / 4;  // float4 stores
  int q0 = blockIdx.x * 128;
  int mis = ((size_t)f >> 2) & 3;
  const float* base = f - mis + 4 * (size_t)q0;   // aligned
  long long left = (long long)(from + n - base);  // words that may be read from base on
  for (int q = threadIdx.x; q < 129; q += 128) {
    if (q == 128 && mis == 0) break;
    if (4 * q + 4 <= left)
      buf[q] = ((const float4*)base)[q];
    else
      for (int e = 0; e < 4; e++)
        if (4 * q + e < left) s[4 * q + e] = base[4 * q + e];
  }
  __syncthreads();
  int q = q0 + threadIdx.x;
  if (q < body) {
    const float* w = s + 4 * threadIdx.x + mis;
    float4 v;
    v.x = w[0];
    v.y = w[1];
    v.z = w[2];
    v.w = w[3];
    ((float4*)(to + head))[q] = v;
  }
  if (blockIdx.x == 0) {
    int tail = head + 4 * body;
    if (threadIdx.x < head) to[threadIdx.x] = from[threadIdx.x];
    if (tail + threadIdx.x < n) to[tail + threadIdx.x] = from[tail + threadIdx.x];
  }
}
cudaError_t launch_copy_part(const float* from, float* to, int n, cudaStream_t stream) {
  int head = (int)((4 - ((size_t)to / 4) % 4) % 4);
  int body = (n - head) / 4;
  int blocks = (body + 127) / 128;
  if (blocks == 0) blocks = 1;
  cp<<<blocks, 128, 0, stream>>>(from, to, n, head);
  return cudaGetLastError();
}
