// Lesson 14: n numbers become one. A sum first, from an atomic for each element to one launch whose
// last block finishes; then the largest element, where it is, a dot product, and a sum that keeps
// what rounding drops.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>

constexpr int kReduceThreads = 256;  // of a block, up to and with sum_wide

// ---------------------------------------------------------------- one atomic after the other
// [sum_atomic]
/// *total += x[0] + ... + x[n - 1]. Every thread asks L2 to add its element to the same word.
__global__ void sum_atomic(size_t n, const float* x, float* total) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, x[i]);
}
// [sum_atomic]

// ---------------------------------------------------------------- a tree in shared memory
// [sum_interleaved]
/// A tree of additions in shared memory, neighbours first. After the step s, partial[t] holds 2 s
/// elements where t is a multiple of 2 s; the threads between have nothing left to do, but their
/// warps go on.
__global__ void sum_interleaved(size_t n, const float* x, float* total) {
  __shared__ float partial[kReduceThreads];
  const int t = threadIdx.x;
  const size_t i = static_cast<size_t>(blockIdx.x) * kReduceThreads + t;
  partial[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int s = 1; s < kReduceThreads; s *= 2) {
    if (t % (2 * s) == 0) partial[t] += partial[t + s];
    __syncthreads();
  }
  if (t == 0) atomicAdd(total, partial[0]);
}
// [sum_interleaved]

// [sum_sequential]
/// The same tree with the upper half added to the lower: those who work are neighbours, so whole
/// warps are done early.
__global__ void sum_sequential(size_t n, const float* x, float* total) {
  __shared__ float partial[kReduceThreads];
  const int t = threadIdx.x;
  const size_t i = static_cast<size_t>(blockIdx.x) * kReduceThreads + t;
  partial[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int s = kReduceThreads / 2; s > 0; s /= 2) {
    if (t < s) partial[t] += partial[t + s];
    __syncthreads();
  }
  if (t == 0) atomicAdd(total, partial[0]);
}
// [sum_sequential]

// ---------------------------------------------------------------- registers
// [block_sum]
/// The sum of a value of each lane, in lane 0. A shuffle reads another lane's register: no memory,
/// no barrier.
__device__ inline float warp_sum(float value) {
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_down_sync(0xffffffffu, value, distance);
  return value;
}

/// The sum of a value of each thread, in thread 0. THREADS: all of the block, a multiple of 32. One
/// word per warp in shared memory.
template <int THREADS>
__device__ float block_sum(float value) {
  __shared__ float of_warp[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warp_sum(value);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  if (warp == 0) value = warp_sum(lane < THREADS / 32 ? of_warp[lane] : 0.0f);
  return value;
}
// [block_sum]

// [sum_shuffles]
/// One element a thread, and its tree in registers.
__global__ void sum_shuffles(size_t n, const float* x, float* total) {
  const size_t i = static_cast<size_t>(blockIdx.x) * kReduceThreads + threadIdx.x;
  const float sum = block_sum<kReduceThreads>(i < n ? x[i] : 0.0f);
  if (threadIdx.x == 0) atomicAdd(total, sum);
}
// [sum_shuffles]

// ---------------------------------------------------------------- several elements a thread
// [sum_strided]
/// As many blocks as the device holds at once. A thread adds every `threads`-th element into a
/// register; the tree comes once, at the end.
__global__ void sum_strided(size_t n, const float* x, float* total) {
  const size_t threads = static_cast<size_t>(gridDim.x) * kReduceThreads;
  const size_t thread = static_cast<size_t>(blockIdx.x) * kReduceThreads + threadIdx.x;
  float sum = 0;
  for (size_t i = thread; i < n; i += threads) sum += x[i];
  sum = block_sum<kReduceThreads>(sum);
  if (threadIdx.x == 0) atomicAdd(total, sum);
}
// [sum_strided]

// [thread_sum]
/// How many floats stand in front of the first one whose address is a multiple of 16 bytes; at most
/// n.
__device__ inline size_t before_vectors(size_t n, const float* x) {
  const size_t before = (16 - reinterpret_cast<size_t>(x) % 16) % 16 / sizeof(float);
  return before < n ? before : n;
}

/// What one of `threads` threads adds: every `threads`-th float4, UNROLL of them asked for before
/// the first is needed; and at most one of the elements that lie before and after the float4.
template <int UNROLL>
__device__ float thread_sum(size_t n, const float* x, size_t thread, size_t threads) {
  const size_t before = before_vectors(n, x);
  const float4* const vectors = reinterpret_cast<const float4*>(x + before);
  const size_t count = (n - before) / 4;
  const size_t after = before + 4 * count;

  float beside = thread < before ? x[thread] : 0.0f;
  if (thread < n - after) beside += x[after + thread];
  float sums[4] = {beside};
  for (size_t i = thread; i < count; i += UNROLL * threads) {
    float4 v[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u)
      v[u] = i + u * threads < count ? vectors[i + u * threads] : make_float4(0, 0, 0, 0);
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) sums[u % 4] += (v[u].x + v[u].y) + (v[u].z + v[u].w);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
// [thread_sum]

// [sum_wide]
constexpr int kWidePerSm = 4;  // blocks on an SM: leaves the compiler registers for four vectors

/// Loads of 16 bytes, four of them in flight for each thread.
__global__ void __launch_bounds__(kReduceThreads, kWidePerSm)
    sum_wide(size_t n, const float* x, float* total) {
  const size_t threads = static_cast<size_t>(gridDim.x) * kReduceThreads;
  const size_t thread = static_cast<size_t>(blockIdx.x) * kReduceThreads + threadIdx.x;
  const float sum = block_sum<kReduceThreads>(thread_sum<4>(n, x, thread, threads));
  if (threadIdx.x == 0) atomicAdd(total, sum);
}
// [sum_wide]

// ---------------------------------------------------------------- one launch, one order
// [last_block]
/// Whether this block is the last to come here; `tickets` is 0 before the launch and after it.
/// Called by all threads, when thread 0 has written what the last block is to read: its fence puts
/// that before the ticket, where every SM sees it.
__device__ inline bool is_last_block(unsigned* tickets) {
  bool last = false;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;  // back to 0 after the last
    __threadfence();
  }
  return __syncthreads_or(last);  // what thread 0 knows, for all
}
// [last_block]

/// As many blocks as run on an SM at a time. The compiler may then take more registers, and asks
/// for all four vectors before it needs one.
constexpr int kPerSm(int threads) { return threads == 512 ? 3 : 1; }

// [sum_one_launch]
/// *total = x[0] + ... + x[n - 1], whatever was in it. Each block leaves its sum in `of_block`; the
/// last to finish adds those, in the order of the blocks and not of their arrival, so the same n, x
/// and device give the same bits every time. One block needs neither.
template <int THREADS>
__global__ void __launch_bounds__(THREADS, kPerSm(THREADS))
    sum_one_launch(size_t n, const float* x, float* of_block, unsigned* tickets, float* total) {
  const size_t threads = static_cast<size_t>(gridDim.x) * THREADS;
  const size_t thread = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x;
  float sum = block_sum<THREADS>(thread_sum<4>(n, x, thread, threads));
  if (gridDim.x > 1) {
    if (threadIdx.x == 0) of_block[blockIdx.x] = sum;
    if (!is_last_block(tickets)) return;
    sum = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS) sum += __ldcg(of_block + b);
    sum = block_sum<THREADS>(sum);
  }
  if (threadIdx.x == 0) *total = sum;
}
// [sum_one_launch]

// [sum_flags]
/// The same without a fence or a ticket, for sums that are over in microseconds. A block's sum and
/// the number of this launch are one word of 64 bits: whoever reads the number has the sum, too.
/// The last block waits for the words of the others; blocks start in the order of their numbers,
/// and the grid is no larger than what runs at once. `launches` counts what has used `of_block`
/// before.
template <int THREADS>
__global__ void __launch_bounds__(THREADS, 1)
    sum_flags(size_t n, const float* x, volatile unsigned long long* of_block,
              volatile unsigned* launches, float* total) {
  const size_t threads = static_cast<size_t>(gridDim.x) * THREADS;
  const size_t thread = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x;
  const unsigned long long now = *launches + 1;
  float sum = block_sum<THREADS>(thread_sum<8>(n, x, thread, threads));
  if (blockIdx.x < gridDim.x - 1) {
    if (threadIdx.x == 0) of_block[blockIdx.x] = now << 32 | __float_as_uint(sum);
    return;
  }
  __syncthreads();  // block_sum() is called twice, and has one array
  if (threadIdx.x > 0) sum = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x - 1; b += THREADS) {
    unsigned long long word = 0;
    do word = of_block[b];
    while (word >> 32 != now);
    sum += __uint_as_float(static_cast<unsigned>(word));
  }
  sum = block_sum<THREADS>(sum);
  if (threadIdx.x == 0) {
    *launches = static_cast<unsigned>(now);
    *total = sum;
  }
}
// [sum_flags]

// ---------------------------------------------------------------- other reductions
// What a reduction needs to know: Value, the neutral value, how two are joined, and where the
// elements come from: the i-th alone, or the i-th four neighbours after the first `before`
// elements, which are loaded and joined apart, so that many can be loaded before one is joined.

struct Maximum {
  using Value = float;
  const float* x;

  __device__ static Value none() { return -INFINITY; }
  /// A NaN stays: fmaxf() would drop it.
  __device__ static Value join(Value a, Value b) { return a > b || a != a ? a : b; }
  __device__ size_t before(size_t n) const { return before_vectors(n, x); }
  __device__ Value element(size_t i) const { return x[i]; }
  using Four = float4;
  __device__ Four load(size_t before, size_t i) const {
    return reinterpret_cast<const float4*>(x + before)[i];
  }
  __device__ static Value joined(Four v, size_t) { return join(join(v.x, v.y), join(v.z, v.w)); }
};

/// The largest element and where it is: the first of equal ones, and the first NaN if there is any.
/// Both are packed into one number, so that joining is one comparison: above, the float's bits in
/// an order that integers have, too; below, the place, turned round. So it takes up to 2^32
/// elements.
struct ArgMaximum {
  using Value = unsigned long long;  // 0: no element
  static constexpr size_t kMost = size_t{1} << 32;
  const float* x;

  __device__ static Value none() { return 0; }
  __device__ static Value join(Value a, Value b) { return a > b ? a : b; }
  __device__ static Value packed(float value, size_t i) {
    const unsigned bits = __float_as_uint(value + 0.0f);  // -0 is 0
    const unsigned ordered = value != value    ? 0xffffffffu
                             : bits >> 31 != 0 ? ~bits
                                               : bits | 0x80000000u;
    return static_cast<Value>(ordered) << 32 | (0xffffffffu - static_cast<unsigned>(i));
  }
  /// Where the element is; -1: there is none.
  __host__ __device__ static long long index(Value v) {
    return v == 0 ? -1 : static_cast<long long>(0xffffffffu - static_cast<unsigned>(v));
  }

  __device__ size_t before(size_t n) const { return before_vectors(n, x); }
  __device__ Value element(size_t i) const { return packed(x[i], i); }
  using Four = float4;
  __device__ Four load(size_t before, size_t i) const {
    return reinterpret_cast<const float4*>(x + before)[i];
  }
  __device__ static Value joined(Four v, size_t first) {
    return join(join(packed(v.x, first), packed(v.y, first + 1)),
                join(packed(v.z, first + 2), packed(v.w, first + 3)));
  }
};

struct Dot {
  using Value = float;
  const float *x, *y;

  __device__ static Value none() { return 0; }
  __device__ static Value join(Value a, Value b) { return a + b; }
  /// Both arrays must be at the same place of a 16-byte word; where they are not, there are no
  /// fours.
  __device__ size_t before(size_t n) const {
    return reinterpret_cast<size_t>(x) % 16 == reinterpret_cast<size_t>(y) % 16
               ? before_vectors(n, x)
               : n;
  }
  __device__ Value element(size_t i) const { return x[i] * y[i]; }
  struct Four {
    float4 a, b;
  };
  __device__ Four load(size_t before, size_t i) const {
    const float4 a = reinterpret_cast<const float4*>(x + before)[i];
    const float4 b = reinterpret_cast<const float4*>(y + before)[i];
    return {a, b};
  }
  __device__ static Value joined(Four v, size_t) {
    const float4 a = v.a, b = v.b;
    return (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w);
  }
};

// [compensated]
/// A sum and, apart from it, all that its additions have rounded off.
struct CompensatedSum {
  using Value = float2;  // x: the sum, y: what was lost
  const float* x;

  __device__ static Value none() { return make_float2(0, 0); }
  /// Knuth's TwoSum: `error` is exactly what a + b loses in `sum`, whichever of the two is larger.
  __device__ static Value join(Value a, Value b) {
    const float sum = a.x + b.x;
    const float of_b = sum - a.x;
    const float error = (a.x - (sum - of_b)) + (b.x - of_b);
    return make_float2(sum, a.y + b.y + error);
  }
  __device__ size_t before(size_t n) const { return before_vectors(n, x); }
  __device__ Value element(size_t i) const { return make_float2(x[i], 0); }
  using Four = float4;
  __device__ Four load(size_t before, size_t i) const {
    return reinterpret_cast<const float4*>(x + before)[i];
  }
  __device__ static Value joined(Four v, size_t) {
    return join(join(make_float2(v.x, 0), make_float2(v.y, 0)),
                join(make_float2(v.z, 0), make_float2(v.w, 0)));
  }
};
// [compensated]

// [reduce]
__device__ inline float shuffle_down(float v, int distance) {
  return __shfl_down_sync(0xffffffffu, v, distance);
}
__device__ inline ArgMaximum::Value shuffle_down(ArgMaximum::Value v, int distance) {
  return __shfl_down_sync(0xffffffffu, v, distance);
}
__device__ inline CompensatedSum::Value shuffle_down(CompensatedSum::Value v, int distance) {
  return make_float2(__shfl_down_sync(0xffffffffu, v.x, distance),
                     __shfl_down_sync(0xffffffffu, v.y, distance));
}

template <class Op, int THREADS>
__device__ typename Op::Value block_reduce(typename Op::Value value) {
  __shared__ typename Op::Value of_warp[THREADS / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int distance = 16; distance > 0; distance /= 2)
    value = Op::join(value, shuffle_down(value, distance));
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = lane < THREADS / 32 ? of_warp[lane] : Op::none();
    for (int distance = 16; distance > 0; distance /= 2)
      value = Op::join(value, shuffle_down(value, distance));
  }
  return value;
}

/// sum_one_launch with any way to join two values: *result = x[0] joined with ... x[n - 1],
/// Op::none() for n = 0.
template <class Op, int THREADS>
__global__ void __launch_bounds__(THREADS, kPerSm(THREADS))
    reduce_one_launch(size_t n, Op op, typename Op::Value* of_block, unsigned* tickets,
                      typename Op::Value* result) {
  using Value = typename Op::Value;
  constexpr int UNROLL = 4;
  const size_t threads = static_cast<size_t>(gridDim.x) * THREADS;
  const size_t thread = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x;
  const size_t before = op.before(n), count = (n - before) / 4, after = before + 4 * count;

  Value mine = Op::none();
  for (size_t i = thread; i < before; i += threads) mine = Op::join(mine, op.element(i));
  for (size_t i = after + thread; i < n; i += threads) mine = Op::join(mine, op.element(i));
  // One round asks for all its fours before it joins the first.
  const auto round = [&](size_t i, auto inside) {
    typename Op::Four v[UNROLL] = {};
#pragma unroll
    for (int u = 0; u < UNROLL; ++u)
      if (inside(u)) v[u] = op.load(before, i + u * threads);
#pragma unroll
    for (int u = 0; u < UNROLL; ++u)
      if (inside(u)) mine = Op::join(mine, Op::joined(v[u], before + 4 * (i + u * threads)));
  };
  size_t i = thread;
  for (; i + (UNROLL - 1) * threads < count; i += UNROLL * threads)
    round(i, [](int) { return true; });
  if (i < count) round(i, [&](int u) { return i + u * threads < count; });

  mine = block_reduce<Op, THREADS>(mine);
  if (gridDim.x > 1) {
    if (threadIdx.x == 0) of_block[blockIdx.x] = mine;
    if (!is_last_block(tickets)) return;
    mine = Op::none();
    for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS) mine = Op::join(mine, of_block[b]);
    mine = block_reduce<Op, THREADS>(mine);
  }
  if (threadIdx.x == 0) *result = mine;
}
// [reduce]

// ---------------------------------------------------------------- launches
// x must be aligned to 4 bytes, as every float is. Returns the launch's error, or cudaSuccess.

/// The largest grid of a launch in which every element has a thread of its own.
inline bool reduction_fits(size_t n) { return n / kReduceThreads < 0x7fffffff; }

inline cudaError_t launch_one_each(void (*kernel)(size_t, const float*, float*), size_t n,
                                   const float* x, float* total, cudaStream_t stream) {
  if (!reduction_fits(n)) return cudaErrorInvalidValue;
  cudaError_t error = cudaMemsetAsync(total, 0, sizeof(float), stream);
  if (error != cudaSuccess || n == 0) return error;
  const size_t blocks = (n + kReduceThreads - 1) / kReduceThreads;
  kernel<<<dim3(static_cast<unsigned>(blocks)), kReduceThreads, 0, stream>>>(n, x, total);
  return cudaGetLastError();
}

inline cudaError_t launch_sum_atomic(size_t n, const float* x, float* total,
                                     cudaStream_t stream = nullptr) {
  return launch_one_each(sum_atomic, n, x, total, stream);
}
inline cudaError_t launch_sum_interleaved(size_t n, const float* x, float* total,
                                          cudaStream_t stream = nullptr) {
  return launch_one_each(sum_interleaved, n, x, total, stream);
}
inline cudaError_t launch_sum_sequential(size_t n, const float* x, float* total,
                                         cudaStream_t stream = nullptr) {
  return launch_one_each(sum_sequential, n, x, total, stream);
}
inline cudaError_t launch_sum_shuffles(size_t n, const float* x, float* total,
                                       cudaStream_t stream = nullptr) {
  return launch_one_each(sum_shuffles, n, x, total, stream);
}

/// The device's SMs. Asked for once: a sum takes microseconds, and so does the question.
inline int reduction_sms() {
  static const int sms = [] {
    int device = 0, count = 1;
    if (cudaGetDevice(&device) == cudaSuccess)
      cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    return count;
  }();
  return sms;
}

/// Blocks of `threads` threads for n elements: one for every `elements` of them, and at most
/// `per_sm` for each SM.
inline unsigned reduction_blocks(size_t n, size_t elements, int per_sm) {
  const size_t wanted = (n + elements - 1) / elements,
               most = static_cast<size_t>(per_sm) * reduction_sms();
  return static_cast<unsigned>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

inline cudaError_t launch_sum_strided(size_t n, const float* x, float* total,
                                      cudaStream_t stream = nullptr) {
  const cudaError_t error = cudaMemsetAsync(total, 0, sizeof(float), stream);
  if (error != cudaSuccess) return error;
  sum_strided<<<reduction_blocks(n, kReduceThreads, 8), kReduceThreads, 0, stream>>>(n, x, total);
  return cudaGetLastError();
}

inline cudaError_t launch_sum_wide(size_t n, const float* x, float* total,
                                   cudaStream_t stream = nullptr) {
  const cudaError_t error = cudaMemsetAsync(total, 0, sizeof(float), stream);
  if (error != cudaSuccess) return error;
  sum_wide<<<reduction_blocks(n, 16 * kReduceThreads, kWidePerSm), kReduceThreads, 0, stream>>>(
      n, x, total);
  return cudaGetLastError();
}

// [shape]
/// Which of the two kernels adds n elements, and in what grid: as measured on an H200.
struct ReductionShape {
  bool flags;
  int threads;  // of a block
  unsigned blocks;
};
inline ReductionShape reduction_shape(size_t n) {
  if (n <= 4096) return {false, 256, 1};
  if (n <= 1 << 15) return {false, 1024, 1};  // so far a second block costs more than it saves
  if (n <= 1 << 18) return {true, 128, reduction_blocks(n, 32 * 128, 1)};
  if (n <= 1 << 21) return {true, 256, reduction_blocks(n, 16 * 256, 1)};
  if (n <= 1 << 22) return {true, 512, reduction_blocks(n, 16 * 512, 1)};
  return {false, 512, reduction_blocks(n, 16 * 512, kPerSm(512))};
}
// [shape]

// Scratch memory: the tickets, the number of launches, and after them a value for each block.
constexpr size_t kReductionHead = 256;

/// Bytes of scratch memory for every launch below. It must be all zero before the first one.
inline size_t reduction_scratch_bytes() {
  return kReductionHead + sizeof(unsigned long long) * 3 * static_cast<size_t>(reduction_sms());
}

/// *total = the sum of x by sum_one_launch in blocks of 256, 512 or 1024 threads. Launches that
/// share `scratch` must not run at once.
inline cudaError_t launch_sum_one_launch(size_t n, const float* x, void* scratch, float* total,
                                         cudaStream_t stream = nullptr,
                                         ReductionShape shape = {false, 0, 0}) {
  unsigned* const tickets = static_cast<unsigned*>(scratch);
  float* const of_block = reinterpret_cast<float*>(static_cast<char*>(scratch) + kReductionHead);
  if (shape.blocks == 0) shape = {false, 512, reduction_blocks(n, 16 * 512, kPerSm(512))};
  if (shape.threads == 256)
    sum_one_launch<256><<<shape.blocks, 256, 0, stream>>>(n, x, of_block, tickets, total);
  if (shape.threads == 512)
    sum_one_launch<512><<<shape.blocks, 512, 0, stream>>>(n, x, of_block, tickets, total);
  if (shape.threads == 1024)
    sum_one_launch<1024><<<shape.blocks, 1024, 0, stream>>>(n, x, of_block, tickets, total);
  return cudaGetLastError();
}

/// *total = the sum of x by sum_flags in blocks of 128, 256 or 512 threads, at most one for each
/// SM. Its words need scratch memory of their own: what another kernel has left there might look
/// like the number of a launch.
inline cudaError_t launch_sum_flags(size_t n, const float* x, void* scratch, float* total,
                                    cudaStream_t stream = nullptr,
                                    ReductionShape shape = {true, 0, 0}) {
  unsigned* const launches = static_cast<unsigned*>(scratch);
  auto* const of_block =
      reinterpret_cast<unsigned long long*>(static_cast<char*>(scratch) + kReductionHead);
  if (shape.blocks == 0) shape = {true, 256, reduction_blocks(n, 16 * 256, 1)};
  if (shape.threads == 128)
    sum_flags<128><<<shape.blocks, 128, 0, stream>>>(n, x, of_block, launches, total);
  if (shape.threads == 256)
    sum_flags<256><<<shape.blocks, 256, 0, stream>>>(n, x, of_block, launches, total);
  if (shape.threads == 512)
    sum_flags<512><<<shape.blocks, 512, 0, stream>>>(n, x, of_block, launches, total);
  return cudaGetLastError();
}

/// *total = the sum of x by the kernel and the grid that are best for n. Scratch: twice
/// reduction_scratch_bytes().
inline cudaError_t launch_sum(size_t n, const float* x, void* scratch, float* total,
                              cudaStream_t stream = nullptr) {
  const ReductionShape shape = reduction_shape(n);
  if (!shape.flags) return launch_sum_one_launch(n, x, scratch, total, stream, shape);
  return launch_sum_flags(n, x, static_cast<char*>(scratch) + reduction_scratch_bytes(), total,
                          stream, shape);
}

/// *result = the elements of `op`, joined. Launches that share `scratch` must not run at once.
template <class Op>
cudaError_t launch_reduce(size_t n, Op op, void* scratch, typename Op::Value* result,
                          cudaStream_t stream = nullptr) {
  if constexpr (requires { Op::kMost; })
    if (n > Op::kMost) return cudaErrorInvalidValue;
  unsigned* const tickets = static_cast<unsigned*>(scratch);
  auto* const of_block =
      reinterpret_cast<typename Op::Value*>(static_cast<char*>(scratch) + kReductionHead);
  if (n <= 4096)
    reduce_one_launch<Op, 256><<<1, 256, 0, stream>>>(n, op, of_block, tickets, result);
  else if (n <= 1 << 15)
    reduce_one_launch<Op, 1024><<<1, 1024, 0, stream>>>(n, op, of_block, tickets, result);
  else
    reduce_one_launch<Op, 512><<<reduction_blocks(n, 16 * 512, kPerSm(512)), 512, 0, stream>>>(
        n, op, of_block, tickets, result);
  return cudaGetLastError();
}
