// Barriers in shared memory: who reads without waiting for them, and too many arrivals.
#include <cuda/barrier>

#include <cooperative_groups.h>

#include "cases.hpp"

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

// ---------------------------------------------------------------- reading what another thread has written
template <bool waits>
__global__ void exchange(const float* in, float* out) {
  __shared__ BlockBarrier bar;
  __shared__ float s[64];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  s[threadIdx.x] = in[threadIdx.x];
  BlockBarrier::arrival_token token = bar.arrive();
  if (waits) bar.wait(std::move(token));
  out[threadIdx.x] = s[63 - threadIdx.x];  // finding: race-shared unwaited
}
CASE(unwaited) { float *in = zeros<float>(64), *out = zeros<float>(64); exchange<false><<<1, 64>>>(in, out); return finish(in, out); }
CASE(unwaited_right) { float *in = zeros<float>(64), *out = zeros<float>(64); exchange<true><<<1, 64>>>(in, out); return finish(in, out); }

// ---------------------------------------------------------------- a copy that belongs to a barrier
template <bool waits>
__global__ void copied(const float* in, float* out) {
  __shared__ BlockBarrier bar;
  __shared__ float s[64];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&s[threadIdx.x], &in[threadIdx.x], cuda::aligned_size_t<4>(4), bar);
  if (waits) bar.arrive_and_wait();
  out[threadIdx.x] = s[threadIdx.x];  // finding: async-in-flight early
}
CASE(early) { float *in = zeros<float>(64), *out = zeros<float>(64); copied<false><<<1, 64>>>(in, out); return finish(in, out); }
CASE(early_right) { float *in = zeros<float>(64), *out = zeros<float>(64); copied<true><<<1, 64>>>(in, out); return finish(in, out); }

// ---------------------------------------------------------------- more arrivals than are expected
__global__ void arrivals(int expected) {
  __shared__ BlockBarrier bar;
  if (threadIdx.x == 0) init(&bar, expected);
  __syncthreads();
  (void)bar.arrive(2);  // finding: barrier-count too_many
}
CASE(too_many) { arrivals<<<1, 16>>>(31); return finish(); }
CASE(too_many_right) { arrivals<<<1, 16>>>(32); return finish(); }

// A tile of two warps meets without the other threads of its block, and no other tile takes part.
template <bool kRight>
__global__ void exchange_in_tile(int* out) {
  __shared__ cooperative_groups::block_tile_memory<128> memory;
  __shared__ int s[128];
  const auto tile = cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block(memory));
  s[threadIdx.x] = threadIdx.x;
  tile.sync();
  out[threadIdx.x] = kRight ? s[threadIdx.x ^ 63] : s[threadIdx.x ^ 127];  // finding: race-shared other_tile_read
}
CASE(other_tile_read) { int* o = zeros<int>(128); exchange_in_tile<false><<<1, 128>>>(o); return finish(o); }
CASE(other_tile_read_right) { int* o = zeros<int>(128); exchange_in_tile<true><<<1, 128>>>(o); return finish(o); }
