// Barriers in shared memory: who reads without waiting for them, and too many arrivals.
#include <cuda/barrier>

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
