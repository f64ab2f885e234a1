// Barriers, warp operations and waiting.
#include "cases.hpp"

// ---------------------------------------------------------------- barriers
__global__ void two_barriers(int* out, bool meet) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  if (meet || threadIdx.x < 32) {
    __syncthreads();  // finding: divergent-barrier if_and_else
  } else {
    __syncthreads();
  }
  out[threadIdx.x] = s[63 - threadIdx.x];
}
CASE(if_and_else) { int* o = zeros<int>(64); two_barriers<<<1, 64>>>(o, false); return finish(o); }
CASE(if_and_else_right) { int* o = zeros<int>(64); two_barriers<<<1, 64>>>(o, true); return finish(o); }

__global__ void guarded(int* out, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  if (threadIdx.x < n) {
    __syncthreads();  // finding: divergent-barrier barrier_under_guard
    s[threadIdx.x] += 1;
  }
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];  // finding: race-shared barrier_under_guard
}
CASE(barrier_under_guard) { int* o = zeros<int>(64); guarded<<<1, 64>>>(o, 50); return finish(o); }
CASE(barrier_under_guard_right) { int* o = zeros<int>(64); guarded<<<1, 64>>>(o, 64); return finish(o); }

__global__ void loop_barrier(int* out, bool skip) {
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    if (skip && i % 2 != threadIdx.x % 2) continue;
    sum += __syncthreads_count(i);  // finding: divergent-barrier different_iterations
  }
  out[threadIdx.x] = sum;
}
CASE(different_iterations) { int* o = zeros<int>(64); loop_barrier<<<1, 64>>>(o, true); return finish(o); }
CASE(different_iterations_right) { int* o = zeros<int>(64); loop_barrier<<<1, 64>>>(o, false); return finish(o); }

// Three places, and a thread that has left.
__global__ void three_ways(int* out, bool meet) {
  const unsigned t = threadIdx.x;
  if (!meet && t == 63) return;
  if (meet || t < 8) {
    __syncthreads();  // finding: divergent-barrier three_barriers
  } else if (t % 2 == 0) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  out[t] = t;
}
CASE(three_barriers) { int* o = zeros<int>(64); three_ways<<<1, 64>>>(o, false); return finish(o); }
CASE(three_barriers_right) { int* o = zeros<int>(64); three_ways<<<1, 64>>>(o, true); return finish(o); }

#define MEET() __syncthreads()
__global__ void one_line(int* out, bool meet) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  if (meet || threadIdx.x < 16) __syncthreads(); else MEET();  // finding: divergent-barrier if_and_else_in_a_line
  out[threadIdx.x] = s[63 - threadIdx.x];
  out[threadIdx.x] += meet || threadIdx.x % 2 ? __syncthreads_or(1) : __syncthreads_or(0);  // finding: divergent-barrier if_and_else_in_a_line
}
CASE(if_and_else_in_a_line) { int* o = zeros<int>(64); one_line<<<1, 64>>>(o, false); return finish(o); }
CASE(if_and_else_in_a_line_right) { int* o = zeros<int>(64); one_line<<<1, 64>>>(o, true); return finish(o); }

__device__ void store_and_meet(int* s, int value) {
  s[threadIdx.x] = value;
  __syncthreads();  // finding: divergent-barrier two_calls
}
__device__ __noinline__ void meet_apart(int* s) {
  __syncthreads();  // finding: divergent-barrier two_calls
  s[threadIdx.x] += 1;
}
__global__ void two_calls_of_one(int* out, bool meet) {
  __shared__ int s[64];
  if (meet || threadIdx.x < 16) {
    store_and_meet(s, 1);
  } else {
    store_and_meet(s, 2);
  }
  if (meet || threadIdx.x >= 48) {
    out[threadIdx.x] = 1;
    meet_apart(s);
    out[threadIdx.x] += s[threadIdx.x];
  } else {
    out[threadIdx.x] = 2;  // clang++ would make one call of two in branches that begin or end alike
    meet_apart(s);
    out[threadIdx.x] -= 2 * s[threadIdx.x];
  }
}
CASE(two_calls) { int* o = zeros<int>(64); two_calls_of_one<<<1, 64>>>(o, false); return finish(o); }
CASE(two_calls_right) { int* o = zeros<int>(64); two_calls_of_one<<<1, 64>>>(o, true); return finish(o); }

// ---------------------------------------------------------------- waiting for ever
__global__ void wait_for_flag(int* flag, bool set) {
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {  // finding: deadlock nobody_sets_the_flag
    }
  } else if (set && threadIdx.x == 32) {
    atomicExch(flag, 1);
  }
}
CASE(nobody_sets_the_flag) { int* f = zeros<int>(1); wait_for_flag<<<1, 64>>>(f, false); return finish(f) == 3 ? 0 : 4; }
CASE(nobody_sets_the_flag_right) { int* f = zeros<int>(1); wait_for_flag<<<1, 64>>>(f, true); return finish(f); }

__global__ void lock_twice(int* lock, int* data, bool release) {
  for (int i = 0; i < 2; ++i) {
    while (atomicCAS(lock, 0, 1) != 0) {  // finding: deadlock lock_not_released
    }
    *data += 1;
    __threadfence();
    if (release) atomicExch(lock, 0);
  }
}
CASE(lock_not_released) { int *l = zeros<int>(1), *d = zeros<int>(1); lock_twice<<<1, 1>>>(l, d, false); return finish(l, d) == 3 ? 0 : 4; }
CASE(lock_not_released_right) { int *l = zeros<int>(1), *d = zeros<int>(1); lock_twice<<<1, 1>>>(l, d, true); return finish(l, d); }

// A thread that waits at a barrier cannot set what another one waits for.
__global__ void flag_behind_barrier(volatile int* flag, bool early) {
  if (early && threadIdx.x == 33) {
    __threadfence();
    *flag = 1;
  }
  if (threadIdx.x == 0) {
    while (*flag == 0) {  // finding: deadlock barrier_before_flag
    }
  }
  __syncthreads();
  if (!early && threadIdx.x == 33) *flag = 1;
}
CASE(barrier_before_flag) {
  int* f = zeros<int>(1);
  flag_behind_barrier<<<1, 64>>>(f, false);
  return finish(f) == 3 ? 0 : 4;
}
CASE(barrier_before_flag_right) { int* f = zeros<int>(1); flag_behind_barrier<<<1, 64>>>(f, true); return finish(f); }

// ---------------------------------------------------------------- masks
__global__ void vote(int* out, unsigned mask, int lanes) {
  if (threadIdx.x < lanes) out[threadIdx.x] = __any_sync(mask, threadIdx.x == 3);  // finding: mask-without-caller mask_too_small, mask-lane-missing half_warp_votes
  else __syncthreads();
}
CASE(mask_too_small) { int* o = zeros<int>(32); vote<<<1, 32>>>(o, 0xffff, 17); return finish(o); }
CASE(mask_too_small_right) { int* o = zeros<int>(32); vote<<<1, 32>>>(o, 0xffff, 16); return finish(o); }
CASE(half_warp_votes) { int* o = zeros<int>(32); vote<<<1, 32>>>(o, 0xffffffff, 16); return finish(o) == 3 ? 0 : 4; }
CASE(half_warp_votes_right) { int* o = zeros<int>(32); vote<<<1, 32>>>(o, 0xffffffff, 32); return finish(o); }

__global__ void branch_shuffle(int* out, unsigned mask) {
  int v = threadIdx.x;
  if (threadIdx.x % 2 == 0) v = __shfl_sync(mask, v, 0);  // finding: mask-lane-missing shuffle_in_branch
  else __syncthreads();
  out[threadIdx.x] = v;
}
CASE(shuffle_in_branch) { int* o = zeros<int>(32); branch_shuffle<<<1, 32>>>(o, 0xffffffff); return finish(o) == 3 ? 0 : 4; }
CASE(shuffle_in_branch_right) { int* o = zeros<int>(32); branch_shuffle<<<1, 32>>>(o, 0x55555555); return finish(o); }

__global__ void partial_sync(int* out, unsigned mask) {
  if (threadIdx.x >= 8) __syncthreads();
  else __syncwarp(mask);  // finding: mask-lane-missing sync_without_the_rest
  out[threadIdx.x] = 1;
}
CASE(sync_without_the_rest) { int* o = zeros<int>(32); partial_sync<<<1, 32>>>(o, 0xffffffff); return finish(o) == 3 ? 0 : 4; }
CASE(sync_without_the_rest_right) { int* o = zeros<int>(32); partial_sync<<<1, 32>>>(o, 0xff); return finish(o); }

__global__ void ballot_of_others(unsigned* out, unsigned mask) {
  out[threadIdx.x] = __ballot_sync(mask, 1);  // finding: mask-without-caller lane_zero_only
}
CASE(lane_zero_only) { unsigned* o = zeros<unsigned>(2); ballot_of_others<<<1, 2>>>(o, 1); return finish(o); }
CASE(lane_zero_only_right) { unsigned* o = zeros<unsigned>(2); ballot_of_others<<<1, 2>>>(o, 3); return finish(o); }

__global__ void sync_odd(int* out, unsigned mask) {
  if (threadIdx.x % 2) __syncwarp(mask);  // finding: mask-without-caller even_mask
  out[threadIdx.x] = 1;
}
CASE(even_mask) { int* o = zeros<int>(32); sync_odd<<<1, 32>>>(o, 0); return finish(o); }
CASE(even_mask_right) { int* o = zeros<int>(32); sync_odd<<<1, 32>>>(o, 0xaaaaaaaa); return finish(o); }

// ---------------------------------------------------------------- shuffles from nobody
__global__ void sum_of(int* out, int n, int steps) {
  int v = threadIdx.x;
  if (threadIdx.x >= n) return;
  for (int half = steps; half > 0; half /= 2) v += __shfl_down_sync(0xffffffff, v, half);  // finding: shuffle-absent-lane sum_after_return
  if (threadIdx.x == 0) *out = v;
}
CASE(sum_after_return) { int* o = zeros<int>(1); sum_of<<<1, 32>>>(o, 20, 16); return finish(o); }
CASE(sum_after_return_right) { int* o = zeros<int>(1); sum_of<<<1, 32>>>(o, 32, 16); return finish(o); }

__global__ void from_outside(int* out, unsigned mask, int source) {
  if (mask >> threadIdx.x & 1) out[threadIdx.x] = __shfl_sync(mask, int(threadIdx.x), source);  // finding: shuffle-absent-lane source_not_in_mask
}
CASE(source_not_in_mask) { int* o = zeros<int>(32); from_outside<<<1, 32>>>(o, 0x0000ff00, 0); return finish(o); }
CASE(source_not_in_mask_right) { int* o = zeros<int>(32); from_outside<<<1, 32>>>(o, 0x0000ff00, 8); return finish(o); }

__global__ void swap_halves(int* out, int distance) {
  out[threadIdx.x] = __shfl_xor_sync(0xffffffff, int(threadIdx.x), distance);  // finding: shuffle-absent-lane small_block
}
CASE(small_block) { int* o = zeros<int>(16); swap_halves<<<1, 16>>>(o, 16); return finish(o); }
CASE(small_block_right) { int* o = zeros<int>(16); swap_halves<<<1, 16>>>(o, 8); return finish(o); }
