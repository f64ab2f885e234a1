// 16 bytes at a time: a record is two units, and one unused unit stands after every eight.
#include "homework.cuh"

__global__ void wide(const float4* x, float* y, int n) {
  __shared__ float4 tile[64 + 8];
  const int lane = threadIdx.x, first = blockIdx.x * 32;
  for (int u = lane; u < 64; u += 32)
    tile[u + u / 8] = 2 * first + u < 2 * n ? x[2 * first + u] : make_float4(0, 0, 0, 0);
  __syncthreads();
  const int u = 2 * lane;
  const float4 a = tile[u + u / 8], b = tile[u + 1 + (u + 1) / 8];
  if (first + lane < n) y[first + lane] = ((a.x + a.y) + (a.z + a.w)) + ((b.x + b.y) + (b.z + b.w));
}

cudaError_t launch_record_sums(const float* x, float* y, int n, cudaStream_t stream) {
  wide<<<(n + 31) / 32, 32, 0, stream>>>(reinterpret_cast<const float4*>(x), y, n);
  return cudaGetLastError();
}
