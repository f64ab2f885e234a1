// Threads that touch one word without order between them.
#include "cases.hpp"

constexpr int kThreads = 64;

// ---------------------------------------------------------------- shared memory of a block
template <bool kRight>
__global__ void reverse(int* data) {
  __shared__ int s[kThreads];
  int t = threadIdx.x;
  s[t] = data[t];
  if (kRight) __syncthreads();
  data[t] = s[kThreads - 1 - t];  // finding: race-shared reversed
}
CASE(reversed) { int* d = zeros<int>(kThreads); reverse<false><<<1, kThreads>>>(d); return finish(d); }
CASE(reversed_right) { int* d = zeros<int>(kThreads); reverse<true><<<1, kThreads>>>(d); return finish(d); }

template <bool kRight>
__global__ void tile_loop(const float* a, float* c, int n) {
  __shared__ float tile[kThreads];
  float sum = 0;
  for (int i = 0; i < n; i += kThreads) {
    tile[threadIdx.x] = a[i + threadIdx.x];  // finding: race-shared tile_without_second_barrier
    __syncthreads();
    for (int k = 0; k < kThreads; ++k) sum += tile[k];
    if (kRight) __syncthreads();
  }
  c[threadIdx.x] = sum;
}
CASE(tile_without_second_barrier) {
  float *a = zeros<float>(256), *c = zeros<float>(kThreads);
  tile_loop<false><<<1, kThreads>>>(a, c, 256);
  return finish(a, c);
}
CASE(tile_without_second_barrier_right) {
  float *a = zeros<float>(256), *c = zeros<float>(kThreads);
  tile_loop<true><<<1, kThreads>>>(a, c, 256);
  return finish(a, c);
}

// A 3 in each of the two warps, so that the race is between warps.
static int* warp_numbers() {
  int host[kThreads], *d = nullptr;
  for (int i = 0; i < kThreads; ++i) host[i] = i == 5 || i == 40 ? 3 : 0;
  cudaMalloc(&d, sizeof host);
  cudaMemcpy(d, host, sizeof host, cudaMemcpyHostToDevice);
  return d;
}
__global__ void sum_plain(const int* data, int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (data[threadIdx.x] == 3) sum += 1;  // finding: race-shared plain_sum
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}
__global__ void sum_atomic(const int* data, int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (data[threadIdx.x] == 3) atomicAdd(&sum, 1);
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}
CASE(plain_sum) { int *d = warp_numbers(), *o = zeros<int>(1); sum_plain<<<1, kThreads>>>(d, o); return finish(d, o); }
CASE(plain_sum_right) { int *d = warp_numbers(), *o = zeros<int>(1); sum_atomic<<<1, kThreads>>>(d, o); return finish(d, o); }

// One line reads and writes, different elements in different threads.
template <bool kRight>
__global__ void shift_line(float* out) {
  __shared__ float s[kThreads + 1];
  int t = threadIdx.x;
  s[t] = t;
  if (t == 0) s[kThreads] = 0;
  __syncthreads();
  if (kRight) {
    float value = s[t + 1];
    __syncthreads();
    s[t] = value;
  } else {
    s[t] = s[t + 1];  // finding: race-shared shifted_line
  }
  out[t] = s[t];
}
CASE(shifted_line) { float* o = zeros<float>(kThreads); shift_line<false><<<1, kThreads>>>(o); return finish(o); }
CASE(shifted_line_right) { float* o = zeros<float>(kThreads); shift_line<true><<<1, kThreads>>>(o); return finish(o); }

__global__ void last_one(int* out, bool one) {
  __shared__ int last;
  if (!one || threadIdx.x == 40) last = threadIdx.x;  // finding: race-shared many_write
  __syncthreads();
  if (threadIdx.x == 0) *out = last;
}
CASE(many_write) { int* o = zeros<int>(1); last_one<<<1, kThreads>>>(o, false); return finish(o); }
CASE(many_write_right) { int* o = zeros<int>(1); last_one<<<1, kThreads>>>(o, true); return finish(o); }

// ---------------------------------------------------------------- lanes of one warp
template <bool kRight>
__global__ void shift_lanes(float* out) {
  __shared__ float s[33];
  int t = threadIdx.x;
  s[t] = t;
  if (t == 0) s[32] = 0;
  __syncwarp();
  if (kRight) {
    float value = s[t + 1];
    __syncwarp();
    s[t] = value;
  } else {
    s[t] = s[t + 1];  // finding: warp-synchronous shifted_lanes
  }
  out[t] = s[t];
}
CASE(shifted_lanes) { float* o = zeros<float>(32); shift_lanes<false><<<1, 32>>>(o); return finish(o); }
CASE(shifted_lanes_right) { float* o = zeros<float>(32); shift_lanes<true><<<1, 32>>>(o); return finish(o); }

__global__ void count_lanes(const int* data, int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncwarp();
  if (data[threadIdx.x] == 0) count += 1;  // finding: warp-synchronous lanes_count
  __syncwarp();
  if (threadIdx.x == 0) *out = count;
}
__global__ void count_lanes_atomically(const int* data, int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncwarp();
  if (data[threadIdx.x] == 0) atomicAdd(&count, 1);
  __syncwarp();
  if (threadIdx.x == 0) *out = count;
}
CASE(lanes_count) { int *d = zeros<int>(32), *o = zeros<int>(1); count_lanes<<<1, 32>>>(d, o); return finish(d, o); }
CASE(lanes_count_right) { int *d = zeros<int>(32), *o = zeros<int>(1); count_lanes_atomically<<<1, 32>>>(d, o); return finish(d, o); }

// A sum along the lanes in one line: each step needs the one before.
template <bool kRight>
__global__ void scan_lanes(int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = 1;
  __syncwarp();
  for (int d = 1; d < 32; d *= 2) {
    if (kRight) {
      int before = t >= d ? s[t - d] : 0;
      __syncwarp();
      s[t] += before;
      __syncwarp();
    } else if (t >= d) {
      s[t] += s[t - d];  // finding: warp-synchronous scan_in_step
    }
  }
  out[t] = s[t];
}
CASE(scan_in_step) { int* o = zeros<int>(32); scan_lanes<false><<<1, 32>>>(o); return finish(o); }
CASE(scan_in_step_right) { int* o = zeros<int>(32); scan_lanes<true><<<1, 32>>>(o); return finish(o); }

template <bool kRight>
__global__ void warp_sum(const int* data, int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = data[t];
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    int other = t < half ? s[t + half] : 0;  // finding: warp-synchronous lockstep_sum
    if (kRight) __syncwarp();
    if (t < half) s[t] += other;
    if (kRight) __syncwarp();
  }
  if (t == 0) *out = s[0];
}
CASE(lockstep_sum) { int *d = zeros<int>(32), *o = zeros<int>(1); warp_sum<false><<<1, 32>>>(d, o); return finish(d, o); }
CASE(lockstep_sum_right) { int *d = zeros<int>(32), *o = zeros<int>(1); warp_sum<true><<<1, 32>>>(d, o); return finish(d, o); }

// Lanes that have met more often than a cell's 16 bits can count.
constexpr int kManyMeetings = 70000;
template <bool kRight>
__global__ void meet_often(int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = 0;
  for (int i = 0; i < kManyMeetings; ++i) __syncwarp();
  s[t] = t;
  if (kRight) __syncwarp();
  out[t] = s[t ^ 1];  // finding: warp-synchronous many_meetings
}
CASE(many_meetings) { int* o = zeros<int>(32); meet_often<false><<<1, 32>>>(o); return finish(o); }
CASE(many_meetings_right) { int* o = zeros<int>(32); meet_often<true><<<1, 32>>>(o); return finish(o); }

// The second half meets again and again, twice past the count. What was ordered before stays so, and what wasn't, too.
template <bool kRight>
__global__ void half_meets_often(int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  if (kRight) __syncwarp();
  s[32 + t] = t;
  if (t < 16) return;
  for (int i = 0; i < 2 * kManyMeetings; ++i) __syncwarp(0xffff0000);
  out[t] = s[t - 16] + s[32 + t] + s[32 + (t ^ 1)];  // finding: warp-synchronous half_meets
}
CASE(half_meets) { int* o = zeros<int>(32); half_meets_often<false><<<1, 32>>>(o); return finish(o); }
CASE(half_meets_right) { int* o = zeros<int>(32); half_meets_often<true><<<1, 32>>>(o); return finish(o); }

// A fence hands over what lies before it, however often the lanes have met since then or before.
template <bool kRight>
__global__ void hand_over_late(int* data, int* flag, int* out) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = t;
    for (int i = 0; i < kManyMeetings; ++i) __syncwarp();
    data[32 + t] = t;
    __syncwarp();
    if (t == 0) __threadfence();
    for (int i = 0; i < kManyMeetings; ++i) __syncwarp();
    if (!kRight) data[96 + t] = t;
    if (t == 0) atomicExch(flag, 1);
  } else if (atomicAdd(flag, 0) == 1) {
    __threadfence();
    out[t] = data[t] + data[32 + t];
    out[t] += data[96 + t];  // finding: race-global handed_over_late
  }
}
CASE(handed_over_late) { int *d = zeros<int>(128), *f = zeros<int>(1), *o = zeros<int>(32); hand_over_late<false><<<2, 32>>>(d, f, o); return finish(d, f, o); }
CASE(handed_over_late_right) { int *d = zeros<int>(128), *f = zeros<int>(1), *o = zeros<int>(32); hand_over_late<true><<<2, 32>>>(d, f, o); return finish(d, f, o); }

// The classic last steps of a reduction, from the time when warps ran in step.
__global__ void volatile_sum(const int* data, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = data[t];
  s[t + 32] = data[t + 32];
  __syncthreads();
  volatile int* v = s;
  v[t] = v[t] + v[t + 32];
  v[t] = v[t] + v[t + 16];  // finding: warp-synchronous volatile_reduction
  if (t == 0) *out = v[0];
}
__global__ void shuffled_sum(const int* data, int* out) {
  int t = threadIdx.x, sum = data[t] + data[t + 32];
  for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
  if (t == 0) *out = sum;
}
CASE(volatile_reduction) { int *d = zeros<int>(64), *o = zeros<int>(1); volatile_sum<<<1, 32>>>(d, o); return finish(d, o); }
CASE(volatile_reduction_right) { int *d = zeros<int>(64), *o = zeros<int>(1); shuffled_sum<<<1, 32>>>(d, o); return finish(d, o); }

template <bool kRight>
__global__ void neighbour(int* data) {
  int t = threadIdx.x;
  data[t] = t;
  if (kRight) __syncwarp();
  int left = t > 0 ? data[t - 1] : 0;  // finding: warp-synchronous lockstep_global
  if (kRight) __syncwarp();
  data[t + 32] = left;
}
CASE(lockstep_global) { int* d = zeros<int>(64); neighbour<false><<<1, 32>>>(d); return finish(d); }
CASE(lockstep_global_right) { int* d = zeros<int>(64); neighbour<true><<<1, 32>>>(d); return finish(d); }

// ---------------------------------------------------------------- global memory
template <bool kRight>
__global__ void shift_in_place(int* data) {
  int value = data[threadIdx.x + 1];
  if (kRight) __syncthreads();
  data[threadIdx.x] = value + 1;  // finding: race-global shifted_in_place
}
CASE(shifted_in_place) { int* d = zeros<int>(65); shift_in_place<false><<<1, 64>>>(d); return finish(d); }
CASE(shifted_in_place_right) { int* d = zeros<int>(65); shift_in_place<true><<<1, 64>>>(d); return finish(d); }

__global__ void total_plain(int* total) {
  if (threadIdx.x == 0) *total = *total + 1;  // finding: race-global total_of_blocks
}
__global__ void total_atomic(int* total) {
  if (threadIdx.x == 0) atomicAdd(total, 1);
}
CASE(total_of_blocks) { int* d = zeros<int>(1); total_plain<<<4, 32>>>(d); return finish(d); }
CASE(total_of_blocks_right) { int* d = zeros<int>(1); total_atomic<<<4, 32>>>(d); return finish(d); }

__global__ void name_block(int* out, bool one) {
  if (threadIdx.x == 0 && (!one || blockIdx.x == 3)) *out = blockIdx.x;  // finding: race-global blocks_write
}
CASE(blocks_write) { int* d = zeros<int>(1); name_block<<<4, 32>>>(d, false); return finish(d); }
CASE(blocks_write_right) { int* d = zeros<int>(1); name_block<<<4, 32>>>(d, true); return finish(d); }

// Each block reads its neighbour's edge, which the neighbour may have changed already.
__global__ void blur(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int left = i > 0 ? in[i - 1] : 0;  // finding: race-global stencil_in_place
  __syncthreads();
  if (i < n) out[i] = left + 1;
}
CASE(stencil_in_place) { int* d = zeros<int>(128); blur<<<2, 64>>>(d, d, 128); return finish(d); }
CASE(stencil_in_place_right) { int *d = zeros<int>(128), *e = zeros<int>(128); blur<<<2, 64>>>(d, e, 128); return finish(d, e); }

// The last block adds up what the others left; without the fence it may miss some of it.
template <bool kRight>
__global__ void last_block(int* parts, unsigned* done, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x;
    if (kRight) __threadfence();
    last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += parts[b];  // finding: race-global last_block_without_fence
    *out = sum;
  }
}
CASE(last_block_without_fence) {
  int *p = zeros<int>(4), *o = zeros<int>(1);
  unsigned* n = zeros<unsigned>(1);
  last_block<false><<<4, 32>>>(p, n, o);
  return finish(p, o, n);
}
CASE(last_block_without_fence_right) {
  int *p = zeros<int>(4), *o = zeros<int>(1);
  unsigned* n = zeros<unsigned>(1);
  last_block<true><<<4, 32>>>(p, n, o);
  return finish(p, o, n);
}

// All threads of a block leave a part each. Where must fences stand, and whose?
enum class Fences { all, first_thread_behind_barrier, first_thread_twice, warp_leaders, system, before_store, before_barrier, within_block, behind_atomic, of_some_blocks, no_reader, reader_within_block, reader_early };
template <Fences kFences>
__global__ void last_block_of_many(int* parts, unsigned* done, int* out) {
  using enum Fences;
  __shared__ bool last;
  const int t = threadIdx.x;
  if (kFences == before_store) __threadfence();
  parts[64 * blockIdx.x + t] = t;
  if (kFences == all || kFences >= no_reader || (kFences == of_some_blocks && blockIdx.x != 1)) __threadfence();
  if (kFences == system) __threadfence_system();
  if (kFences == within_block) __threadfence_block();
  if (kFences == before_barrier && t == 0) __threadfence();
  if (kFences == warp_leaders) {
    __syncwarp();
    if (t % 32 == 0) __threadfence();
  }
  if (kFences == reader_early && t == 0) __threadfence();
  __syncthreads();
  if (t == 0) {
    if (kFences == first_thread_behind_barrier || kFences == first_thread_twice) __threadfence();
    last = atomicAdd(done, 1) == gridDim.x - 1;
    if (kFences == behind_atomic || kFences == first_thread_twice) __threadfence();
  }
  __syncthreads();
  if (!last) return;
  if (kFences != no_reader && kFences < reader_within_block && kFences != first_thread_twice) __threadfence();
  if (kFences == reader_within_block) __threadfence_block();
  for (int b = 0; b < gridDim.x; ++b) out[t] += parts[64 * b + t];  // finding: race-global fence_before_store, race-global fence_of_one_thread, race-global fence_within_block, race-global fence_behind_atomic, race-global fence_of_some_blocks, race-global no_reader_fence, race-global reader_fence_within_block, race-global reader_fence_early
}
template <Fences kFences>
int run_last_block() {
  int *p = zeros<int>(256), *o = zeros<int>(64);
  unsigned* n = zeros<unsigned>(1);
  last_block_of_many<kFences><<<4, 64>>>(p, n, o);
  return finish(p, o, n);
}
CASE(fence_before_store) { return run_last_block<Fences::before_store>(); }
CASE(fence_before_store_right) { return run_last_block<Fences::all>(); }
CASE(fence_of_one_thread) { return run_last_block<Fences::before_barrier>(); }
CASE(fence_of_one_thread_right) { return run_last_block<Fences::first_thread_behind_barrier>(); }
CASE(fence_within_block) { return run_last_block<Fences::within_block>(); }
CASE(fence_within_block_right) { return run_last_block<Fences::system>(); }
CASE(fence_behind_atomic) { return run_last_block<Fences::behind_atomic>(); }
CASE(fence_behind_atomic_right) { return run_last_block<Fences::first_thread_twice>(); }
CASE(fence_of_some_blocks) { return run_last_block<Fences::of_some_blocks>(); }
CASE(fence_of_some_blocks_right) { return run_last_block<Fences::warp_leaders>(); }
CASE(no_reader_fence) { return run_last_block<Fences::no_reader>(); }
CASE(no_reader_fence_right) { return run_last_block<Fences::all>(); }
CASE(reader_fence_within_block) { return run_last_block<Fences::reader_within_block>(); }
CASE(reader_fence_within_block_right) { return run_last_block<Fences::all>(); }
CASE(reader_fence_early) { return run_last_block<Fences::reader_early>(); }
CASE(reader_fence_early_right) { return run_last_block<Fences::first_thread_twice>(); }

// Lanes of a warp: one fences and counts for all, after they have met; and one that nobody met.
template <bool kMeet>
__global__ void last_warp(int* parts, unsigned* done, int* out) {
  const int t = threadIdx.x;
  parts[32 * blockIdx.x + t] = t;
  if (kMeet) __syncwarp();
  unsigned ticket = 0;
  if (t == 0) {
    __threadfence();
    ticket = atomicAdd(done, 1);
    __threadfence();
  }
  if (__shfl_sync(0xffffffff, ticket, 0) != gridDim.x - 1) return;
  for (int b = 0; b < gridDim.x; ++b) out[t] += parts[32 * b + t];  // finding: race-global fence_of_one_lane
}
template <bool kMeet>
int run_last_warp() {
  int *p = zeros<int>(128), *o = zeros<int>(32);
  unsigned* n = zeros<unsigned>(1);
  last_warp<kMeet><<<4, 32>>>(p, n, o);
  return finish(p, o, n);
}
CASE(fence_of_one_lane) { return run_last_warp<false>(); }
CASE(fence_of_one_lane_right) { return run_last_warp<true>(); }

// A lock: who takes it comes after all that had it before. Without the reader's fence it may still see older values.
template <bool kRight>
__global__ void sum_under_lock(int* lock, int* sum) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  if (kRight) __threadfence();
  *sum += 1;  // finding: race-global lock_without_fence
  __threadfence();
  atomicExch(lock, 0);
}
CASE(lock_without_fence) { int *l = zeros<int>(1), *s = zeros<int>(1); sum_under_lock<false><<<3, 32>>>(l, s); return finish(l, s); }
CASE(lock_without_fence_right) { int *l = zeros<int>(1), *s = zeros<int>(1); sum_under_lock<true><<<3, 32>>>(l, s); return finish(l, s); }

// A lock without any fence, between blocks and within one; and one that is given back by a plain store.
template <bool kRight>
__global__ void move_under_bare_lock(int* lock, int* from, int* to) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  if (kRight) __threadfence();
  const int left = *from;  // finding: race-global bare_lock
  *from = left - 1;        // finding: race-global bare_lock
  *to += 1;                // finding: race-global bare_lock
  if (kRight) __threadfence();
  atomicExch(lock, 0);
}
template <bool kRight>
int run_bare_lock() {
  int *l = zeros<int>(1), *f = zeros<int>(1), *t = zeros<int>(1);
  move_under_bare_lock<kRight><<<3, 32>>>(l, f, t);
  return finish(l, f, t);
}
CASE(bare_lock) { return run_bare_lock<false>(); }
CASE(bare_lock_right) { return run_bare_lock<true>(); }

template <bool kRight>
__global__ void sum_under_lock_of_block(int* out) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    if (kRight) __threadfence_block();
    sum += 1;  // finding: race-shared bare_lock_in_block
    if (kRight) __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
CASE(bare_lock_in_block) { int* o = zeros<int>(2); sum_under_lock_of_block<false><<<2, 128>>>(o); return finish(o); }
CASE(bare_lock_in_block_right) { int* o = zeros<int>(2); sum_under_lock_of_block<true><<<2, 128>>>(o); return finish(o); }

template <bool kRight>
__global__ void give_back_plainly(int* lock) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {  // finding: race-global given_back_plainly
  }
  __threadfence();
  if (kRight)
    atomicExch(lock, 0);
  else
    *lock = 0;  // finding: race-global given_back_plainly
}
CASE(given_back_plainly) { int* l = zeros<int>(1); give_back_plainly<false><<<3, 32>>>(l); return finish(l); }
CASE(given_back_plainly_right) { int* l = zeros<int>(1); give_back_plainly<true><<<3, 32>>>(l); return finish(l); }

// The same lock by atomics that say their order.
template <bool kRight>
__global__ void sum_under_ordered_lock(int* lock, int* sum) {
  if (threadIdx.x != 0) return;
  while ((kRight ? __nv_atomic_exchange_n(lock, 1, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE)
                 : __nv_atomic_exchange_n(lock, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE)) != 0) {
  }
  *sum += 1;  // finding: race-global relaxed_lock
  __nv_atomic_store_n(lock, 0, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
}
CASE(relaxed_lock) { int *l = zeros<int>(1), *s = zeros<int>(1); sum_under_ordered_lock<false><<<3, 32>>>(l, s); return finish(l, s); }
CASE(relaxed_lock_right) { int *l = zeros<int>(1), *s = zeros<int>(1); sum_under_ordered_lock<true><<<3, 32>>>(l, s); return finish(l, s); }

// From block to block to block: the third has heard of the first by the second one's flag only.
template <bool kRight>
__global__ void pass_on(int* value, volatile int* ready, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) *value = 7;
  if (blockIdx.x > 0) {
    while (ready[blockIdx.x - 1] == 0) {
    }
    if (kRight || blockIdx.x == 2) __threadfence();
  }
  if (blockIdx.x == 2) *out = *value;  // finding: race-global passed_on_without_fence
  if (blockIdx.x == 0 || kRight) __threadfence();
  ready[blockIdx.x] = 1;
}
CASE(passed_on_without_fence) { int *v = zeros<int>(1), *r = zeros<int>(3), *o = zeros<int>(1); pass_on<false><<<3, 32>>>(v, r, o); return finish(v, r, o); }
CASE(passed_on_without_fence_right) { int *v = zeros<int>(1), *r = zeros<int>(3), *o = zeros<int>(1); pass_on<true><<<3, 32>>>(v, r, o); return finish(v, r, o); }

// The next block may overwrite what this one has read, once a fence and a flag say so.
template <bool kRight>
__global__ void reuse(int* scratch, volatile int* ready, int* out) {
  const int t = threadIdx.x;
  if (t == 0 && blockIdx.x > 0) {
    while (ready[blockIdx.x - 1] == 0) {
    }
    __threadfence();
  }
  __syncthreads();
  scratch[t] = t + blockIdx.x;  // finding: race-global reuse_before_read
  __syncthreads();
  if (!kRight && t == 0) {
    __threadfence();
    ready[blockIdx.x] = 1;
  }
  out[64 * blockIdx.x + t] = scratch[63 - t];
  __syncthreads();
  if (kRight && t == 0) {
    __threadfence();
    ready[blockIdx.x] = 1;
  }
}
CASE(reuse_before_read) { int *s = zeros<int>(64), *r = zeros<int>(3), *o = zeros<int>(192); reuse<false><<<3, 64>>>(s, r, o); return finish(s, r, o); }
CASE(reuse_before_read_right) { int *s = zeros<int>(64), *r = zeros<int>(3), *o = zeros<int>(192); reuse<true><<<3, 64>>>(s, r, o); return finish(s, r, o); }

// The same two lines race within each block and between blocks: a barrier would cure one of both.
__global__ void further_on(int* written, const int* read, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  written[i] = i;  // finding: race-global within_and_between
  out[i] = read[i + 40];
}
CASE(within_and_between) { int *d = zeros<int>(192), *o = zeros<int>(128); further_on<<<2, 64>>>(d, d, o); return finish(d, o); }
CASE(within_and_between_right) { int *d = zeros<int>(192), *e = zeros<int>(192), *o = zeros<int>(128); further_on<<<2, 64>>>(d, e, o); return finish(d, e, o); }

// The same in PTX: a relaxed store or load orders nothing else.
template <bool kReleases, bool kAcquires>
__global__ void tell(int* value, int* ready, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *value = 7;
    if (kReleases)
      asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(ready) : "memory");
    else
      asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(ready) : "memory");
    return;
  }
  int told = 0;
  while (told == 0) {
    if (kAcquires)
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(told) : "l"(ready) : "memory");
    else
      asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(told) : "l"(ready) : "memory");
  }
  *out = *value;  // finding: race-global ptx_without_release, race-global ptx_without_acquire
}
CASE(ptx_without_release) { int *v = zeros<int>(1), *r = zeros<int>(1), *o = zeros<int>(1); tell<false, true><<<2, 32>>>(v, r, o); return finish(v, r, o); }
CASE(ptx_without_release_right) { int *v = zeros<int>(1), *r = zeros<int>(1), *o = zeros<int>(1); tell<true, true><<<2, 32>>>(v, r, o); return finish(v, r, o); }
CASE(ptx_without_acquire) { int *v = zeros<int>(1), *r = zeros<int>(1), *o = zeros<int>(1); tell<true, false><<<2, 32>>>(v, r, o); return finish(v, r, o); }
CASE(ptx_without_acquire_right) { int *v = zeros<int>(1), *r = zeros<int>(1), *o = zeros<int>(1); tell<true, true><<<2, 32>>>(v, r, o); return finish(v, r, o); }

// A counter that is zeroed plainly and counted by atomics: who zeroes it counts, too, and so does everybody after.
template <bool kRight>
__global__ void count_in_block(const int* data, int* out) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  if (kRight) __syncthreads();
  if (data[threadIdx.x] == 0) atomicAdd(&total, 1);  // finding: race-shared zeroed_in_block
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}
CASE(zeroed_in_block) { int *d = zeros<int>(128), *o = zeros<int>(2); count_in_block<false><<<2, 128>>>(d, o); return finish(d, o); }
CASE(zeroed_in_block_right) { int *d = zeros<int>(128), *o = zeros<int>(2); count_in_block<true><<<2, 128>>>(d, o); return finish(d, o); }

template <bool kRight>
__global__ void count_in_grid(int* total) {
  if (!kRight && blockIdx.x == 0 && threadIdx.x == 0) *total = 0;
  __syncthreads();
  atomicAdd(total, 1);  // finding: race-global zeroed_in_grid
}
CASE(zeroed_in_grid) { int *o = zeros<int>(1); count_in_grid<false><<<4, 64>>>(o); return finish(o); }
CASE(zeroed_in_grid_right) { int *o = zeros<int>(1); count_in_grid<true><<<4, 64>>>(o); return finish(o); }

// The other way round: a plain store after atomics. Who has got a value by its own atomic may know that it is the last.
template <bool kRight>
__global__ void mean_in_block(const float* data, float* out) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, data[threadIdx.x]);
  if (kRight) __syncthreads();
  if (threadIdx.x == 127) *out = total /= 128;  // finding: race-shared divided_too_early
}
CASE(divided_too_early) { float *d = zeros<float>(128), *o = zeros<float>(1); mean_in_block<false><<<1, 128>>>(d, o); return finish(d, o); }
CASE(divided_too_early_right) { float *d = zeros<float>(128), *o = zeros<float>(1); mean_in_block<true><<<1, 128>>>(d, o); return finish(d, o); }

template <bool kRight>
__global__ void mean_in_grid(const float* data, float* total, unsigned* arrived) {
  atomicAdd(total, data[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x != 0) return;
  bool last = blockIdx.x == gridDim.x - 1;
  if (kRight) {
    __threadfence();
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
    __threadfence();
  }
  if (!last) return;
  *total /= gridDim.x;  // finding: race-global divided_by_last
  *arrived = 0;         // with a ticket: the last one's, for the next launch
}
CASE(divided_by_last) { float *d = zeros<float>(64), *t = zeros<float>(1); unsigned* a = zeros<unsigned>(1); mean_in_grid<false><<<3, 64>>>(d, t, a); return finish(d, t, a); }
CASE(divided_by_last_right) { float *d = zeros<float>(64), *t = zeros<float>(1); unsigned* a = zeros<unsigned>(1); mean_in_grid<true><<<3, 64>>>(d, t, a); return finish(d, t, a); }

// A ticket that tells nothing but who is the last needs no fence.
__global__ void count_blocks(unsigned* arrived, int* last) {
  if (threadIdx.x != 0 || atomicAdd(arrived, 1u) != gridDim.x - 1) return;
  *last = blockIdx.x;
  *arrived = 0;
}
CASE(ticket_right) { unsigned* a = zeros<unsigned>(1); int* l = zeros<int>(1); count_blocks<<<5, 32>>>(a, l); return finish(a, l); }
