// The words around the part are read and written back with it: somebody else may be changing them.
// expect: copy_part findings out-of-bounds
// points: copy_part 5..85
#include "homework.cuh"

__global__ void k(const float* from, float* to, int n, int off, int pieces) {
  int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32;
  float4* t = (float4*)(to - off);
  int sh = (int)((size_t)from / 4 % 4) - off;
  sh = (sh + 4) % 4;
  auto get = [&](int q) {
    int b = 4 * q - off - sh;
    float4 r = {0, 0, 0, 0};
    if (b >= 0 && b + 4 <= n)
      r = *(const float4*)(from + b);
    else {
      if (b >= 0 && b < n) r.x = from[b];
      if (b + 1 >= 0 && b + 1 < n) r.y = from[b + 1];
      if (b + 2 >= 0 && b + 2 < n) r.z = from[b + 2];
      if (b + 3 >= 0 && b + 3 < n) r.w = from[b + 3];
    }
    return r;
  };
  float4 a = get(i), b;
  b.x = __shfl_down_sync(~0u, a.x, 1);
  b.y = __shfl_down_sync(~0u, a.y, 1);
  b.z = __shfl_down_sync(~0u, a.z, 1);
  if (lane == 31 && sh) b = get(i + 1);
  if (i >= pieces) return;
  float4 r = sh == 0   ? a
             : sh == 1 ? make_float4(a.y, a.z, a.w, b.x)
             : sh == 2 ? make_float4(a.z, a.w, b.x, b.y)
                       : make_float4(a.w, b.x, b.y, b.z);
  int w = 4 * i - off;
  if (w < 0 || w + 4 > n) {
    float4 o = t[i];
    if (w < 0) r.x = o.x;
    if (w + 1 < 0) r.y = o.y;
    if (w + 2 < 0) r.z = o.z;
    if (w + 1 >= n) r.y = o.y;
    if (w + 2 >= n) r.z = o.z;
    if (w + 3 >= n) r.w = o.w;
  }
  t[i] = r;
}
cudaError_t launch_copy_part(const float* from, float* to, int n, cudaStream_t stream) {
  int off = (int)((size_t)to / 4 % 4);
  int pieces = (n + off + 3) / 4;
  k<<<(pieces + 255) / 256, 256, 0, stream>>>(from, to, n, off, pieces);
  return cudaGetLastError();
}
