// All tasks with templates, structs and cooperative groups.
// Float4 loads, scans by shuffles, transposes by lanes.
#include "homework.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Two lanes for each record, a float4 for each lane.
__global__ void record_sums(const float4* x, float* y, int n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  float sum = 0;
  if (i < 2ll * n) {
    const auto [a, b, c, d] = x[i];
    sum = (a + b) + (c + d);
  }
  sum += __shfl_xor_sync(~0u, sum, 1);
  if (i % 2 == 0 && i < 2ll * n) y[i / 2] = sum;
}

cudaError_t launch_record_sums(const float* x, float* y, int n, cudaStream_t stream) {
  const long long threads = 2ll * n;
  record_sums<<<unsigned((threads + 255) / 256), 256, 0, stream>>>(reinterpret_cast<const float4*>(x), y, n);
  return cudaGetLastError();
}

// A warp sums 32 words of a row by a scan, so words stay coalesced; the tile turns the sums.
template <class Group>
__device__ float inclusive_scan(const Group& g, float v) {
  for (int d = 1; d < g.size(); d <<= 1) {
    const float left = g.shfl_up(v, d);
    if (g.thread_rank() >= d) v += left;
  }
  return v;
}

__global__ void __launch_bounds__(1024) turned(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[32][33];
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int lane = threadIdx.x, r = threadIdx.y;
  const int r0 = blockIdx.x * 32;
  float before = 0;  // the sum of this warp's row up to the tile
  for (int c0 = 0; c0 < cols; c0 += 32) {
    const bool mine = r0 + r < rows && c0 + lane < cols;
    const float word = mine ? in[size_t(r0 + r) * cols + c0 + lane] : 0.0f;
    const float sum = before + inclusive_scan(warp, word);
    before = warp.shfl(sum, 31);
    tile[r][lane] = sum;
    __syncthreads();
    if (c0 + r < cols && r0 + lane < rows) out[size_t(c0 + r) * rows + r0 + lane] = tile[lane][r];
    __syncthreads();
  }
}

cudaError_t launch_running_sums_turned(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  turned<<<(rows + 31) / 32, dim3(32, 32), 0, stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}

// Eight warps for a row; each has counters of its own in dynamic shared memory, 64 KB in all.
constexpr int WARPS = 8;

__global__ void by_key(const int* keys, const float* values, float* sums, int cols) {
  extern __shared__ float counters[];  // [warp][key][lane]
  const int lane = threadIdx.x, warp = threadIdx.y;
  float* mine = counters + warp * 64 * 32 + lane;
  for (int key = 0; key < 64; ++key) mine[key * 32] = 0;
  const int* k = keys + size_t(blockIdx.x) * cols;
  const float* v = values + size_t(blockIdx.x) * cols;
  for (int c = warp * 32 + lane; c < cols; c += WARPS * 32) mine[k[c] * 32] += v[c];
  __syncthreads();
  // a warp for each key: a lane adds its column in all eight, then the lanes add theirs
  for (int key = warp; key < 64; key += WARPS) {
    float sum = 0;
    for (int w = 0; w < WARPS; ++w) sum += counters[(w * 64 + key) * 32 + lane];
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0) sums[size_t(blockIdx.x) * 64 + key] = sum;
  }
}

cudaError_t launch_sums_by_key(const int* keys, const float* values, float* sums, int rows, int cols, cudaStream_t stream) {
  constexpr int bytes = WARPS * 64 * 32 * sizeof(float);
  if (cudaError_t error = cudaFuncSetAttribute(by_key, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)) return error;
  by_key<<<rows, dim3(32, WARPS), bytes, stream>>>(keys, values, sums, cols);
  return cudaGetLastError();
}
