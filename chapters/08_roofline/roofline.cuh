// What the parts of a GPU can do at best. Each kernel here either waits for one part of the machine
// and does nothing else (a latency), or keeps one part busy all the time (a rate).
//
// Each writes a result that depends on all of its work: what a compiler can prove to be useless it
// throws away, and then nothing is measured. Where a kernel reads the clock itself, its last store
// is volatile: the compiler keeps volatile accesses and readings of the clock in the order of the
// source, and the store cannot leave before its value is there.
#pragma once

#include <cuda_runtime.h>

// -------------------------------------------------------------- the memories, as they are declared

// [five_memories]
constexpr unsigned kNear = 32;
__constant__ float weights[kNear];  // constant: read by all threads, written by the host

/// out[i] = the sum of a weight times in[j], where j is i and its 31 neighbours to the right, going
/// round in the block; thread i begins the sum at weight i % 32. One kernel with all five memories
/// in it. Blocks of at most 256 threads, in x.
__global__ void five_memories(const float* in, float* out, size_t n) {
  // shared: one array for the block
  __shared__ float piece[256];
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;  // a register
  // in[i], out[i]: global
  piece[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();

  float near[kNear];  // local: its index is known only at run time, and registers have no index
  for (unsigned k = 0; k < kNear; ++k) near[k] = piece[(threadIdx.x + k) % blockDim.x];
  float sum = 0;
  for (unsigned k = 0; k < kNear; ++k)
    sum = fmaf(weights[(k + i) % kNear], near[(k + i) % kNear], sum);
  if (i < n) out[i] = sum;
}
// [five_memories]

// ---------------------------------------------------------------- latencies: one thing at a time

// [fma_latency]
/// A chain of multiply-adds, each of which needs the result of the one before: nothing overlaps, so
/// this is the time of one after the other. One warp. out[thread] = the end of that thread's chain;
/// *cycles = what `steps` of them took.
__global__ void fma_latency(float a, float b, unsigned steps, volatile float* out,
                            long long* cycles) {
  float x = 0.5f + threadIdx.x / 64.0f;
  const long long begin = clock64();
#pragma unroll 128
  for (unsigned i = 0; i < steps; ++i) x = fmaf(a, x, b);
  out[threadIdx.x] = x;
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
}
// [fma_latency]

// [chase_global]
/// A pointer chase. Memory holds a ring of addresses: at each address lies the next one. No load
/// can leave before the one before it has come back, and since the ring is in random order nothing
/// can guess where it goes next. Where the links are (L1, L2, DRAM) is only a matter of how large
/// the ring is.
///
/// One thread. It goes on from *place, walks `lead` steps off the clock, then `steps` on the clock,
/// and leaves in *place where it has come to.
__global__ void chase_global(volatile unsigned long long* place, unsigned lead, unsigned steps,
                             long long* cycles) {
  unsigned long long at = *place;
  for (unsigned i = 0; i < lead; ++i) at = __ldca(reinterpret_cast<const unsigned long long*>(at));
  const long long begin = clock64();
  for (unsigned i = 0; i < steps; ++i) at = __ldca(reinterpret_cast<const unsigned long long*>(at));
  *place = at;
  const long long end = clock64();
  *cycles = end - begin;
}
// [chase_global]

// [chase_shared]
constexpr unsigned kSharedRing = 1024;  // words: 4 KB

/// The same in shared memory. A link is the byte offset of the next one, which is what the load
/// instruction wants: no arithmetic lies between two loads. `ring` has `words` links, at most
/// kSharedRing. Up to 32 threads, each with its own place.
__global__ void chase_shared(const unsigned* ring, unsigned words, volatile unsigned* place,
                             unsigned steps, long long* cycles) {
  __shared__ unsigned links[kSharedRing];
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) links[i] = ring[i];
  __syncthreads();

  const char* const base = reinterpret_cast<const char*>(links);
  unsigned at = place[threadIdx.x];
  const long long begin = clock64();
  for (unsigned i = 0; i < steps; ++i) at = *reinterpret_cast<const unsigned*>(base + at);
  place[threadIdx.x] = at;
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
}
// [chase_shared]

// [chase_constant]
constexpr unsigned kConstantRing = 256;  // words: 1 KB
__constant__ unsigned constant_ring[kConstantRing];

/// The same in constant memory, with the ring that launch_chase_constant() has put there. All lanes
/// at the same place: one word is fetched and handed to all of them. Lanes at different places: one
/// address after the other.
__global__ void chase_constant(volatile unsigned* place, unsigned steps, long long* cycles) {
  const char* const base = reinterpret_cast<const char*>(constant_ring);
  unsigned at = place[threadIdx.x];
  const long long begin = clock64();
  for (unsigned i = 0; i < steps; ++i) at = *reinterpret_cast<const unsigned*>(base + at);
  place[threadIdx.x] = at;
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
}
// [chase_constant]

// [chase_local]
constexpr unsigned kLocalRing = 256;  // words: 1 KB for each thread

/// The same in an array of the thread's own. Registers have names and no addresses, so an array
/// that is indexed by something known only at run time cannot be in registers: the compiler puts it
/// into local memory.
__global__ void chase_local(const unsigned* ring, unsigned words, volatile unsigned* place,
                            unsigned steps, long long* cycles) {
  unsigned links[kLocalRing];
  for (unsigned i = 0; i < words; ++i) links[i] = ring[i];

  const char* const base = reinterpret_cast<const char*>(links);
  unsigned at = place[threadIdx.x];
  const long long begin = clock64();
  for (unsigned i = 0; i < steps; ++i) at = *reinterpret_cast<const unsigned*>(base + at);
  place[threadIdx.x] = at;
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
}
// [chase_local]

// ---------------------------------------------------------------- rates: everything at once

// [fma_chains]
/// CHAINS chains of multiply-adds per thread that do not need each other: while one waits for its
/// result, the next can start. Every chain's end is written, out[chain * threads + thread], so none
/// can be left out. Blocks in x.
template <int CHAINS>
__global__ void fma_chains(float a, float b, unsigned steps, float* out) {
  const size_t threads = static_cast<size_t>(gridDim.x) * blockDim.x;
  const size_t thread = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const float first = 0.5f + (thread % 64) / 64.0f;
  float x[CHAINS] = {};
#pragma unroll
  for (int c = 0; c < CHAINS; ++c) x[c] = first + c;

#pragma unroll 32
  for (unsigned i = 0; i < steps; ++i) {
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) x[c] = fmaf(a, x[c], b);
  }
#pragma unroll
  for (int c = 0; c < CHAINS; ++c) out[c * threads + thread] = x[c];
}
// [fma_chains]

// [sum_words]
/// Reads memory and writes next to nothing: out[thread] = the sum of the words that this thread has
/// read. The words are unsigned, whose sums wrap round: in whatever order they are added, the total
/// is the same, to the last bit.
///
/// LOADS loads of 16 bytes leave before the first is waited for. Blocks in x of at most 256
/// threads, as many as wanted: together they step through `in`, which must be aligned to 16 bytes.
/// (Without the bounds, nvcc keeps to 32 registers and splits 8 loads into two times 4.)
template <int LOADS>
__global__ void __launch_bounds__(256, 2)
    sum_words(const unsigned* __restrict__ in, size_t words, unsigned* __restrict__ out) {
  const uint4* const units = reinterpret_cast<const uint4*>(in);
  const size_t count = words / 4;
  const size_t threads = static_cast<size_t>(gridDim.x) * blockDim.x;
  const size_t thread = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;

  unsigned sum = 0;
  size_t at = thread;
  for (; at + (LOADS - 1) * threads < count; at += LOADS * threads) {
    uint4 unit[LOADS];
#pragma unroll
    for (int l = 0; l < LOADS; ++l) unit[l] = units[at + l * threads];
#pragma unroll
    for (int l = 0; l < LOADS; ++l) sum += unit[l].x + unit[l].y + unit[l].z + unit[l].w;
  }
  for (; at < count; at += threads) {
    const uint4 unit = units[at];
    sum += unit.x + unit.y + unit.z + unit.w;
  }
  // the last words, up to three
  for (size_t word = 4 * count + thread; word < words; word += threads) sum += in[word];
  out[thread] = sum;
}
// [sum_words]

// [sum_l2]
/// The same, `passes` times over a piece of memory that fits in L2. __ldcg() loads are kept in L2
/// but not in L1: without that, an SM would find its part of the piece in its own L1 from the
/// second pass on.
__global__ void sum_l2(const uint4* __restrict__ in, size_t count, unsigned passes,
                       unsigned* __restrict__ out) {
  constexpr int LOADS = 4;
  const size_t threads = static_cast<size_t>(gridDim.x) * blockDim.x;
  const size_t thread = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;

  unsigned sum = 0;
  for (unsigned pass = 0; pass < passes; ++pass) {
    size_t at = thread;
    for (; at + (LOADS - 1) * threads < count; at += LOADS * threads) {
      uint4 unit[LOADS];
#pragma unroll
      for (int l = 0; l < LOADS; ++l) unit[l] = __ldcg(in + at + l * threads);
#pragma unroll
      for (int l = 0; l < LOADS; ++l) sum += unit[l].x + unit[l].y + unit[l].z + unit[l].w;
    }
    for (; at < count; at += threads) {
      const uint4 unit = __ldcg(in + at);
      sum += unit.x + unit.y + unit.z + unit.w;
    }
  }
  out[thread] = sum;
}
// [sum_l2]

// [sum_shared]
constexpr unsigned kSharedUnits = 1024;  // of 16 bytes: 16 KB per block

/// The same from shared memory: every block takes 16 KB of `in` there, and then each thread reads
/// `steps` units of 16 bytes, going round. Neighbouring lanes read neighbouring units: no bank
/// conflicts.
__global__ void sum_shared(const uint4* __restrict__ in, unsigned steps,
                           unsigned* __restrict__ out) {
  __shared__ uint4 units[kSharedUnits];
  for (unsigned i = threadIdx.x; i < kSharedUnits; i += blockDim.x) units[i] = in[i];
  __syncthreads();

  unsigned sum = 0;
  unsigned at = threadIdx.x;
#pragma unroll 8
  for (unsigned i = 0; i < steps; ++i) {
    const uint4 unit = units[at % kSharedUnits];
    sum += unit.x + unit.y + unit.z + unit.w;
    at += blockDim.x;
  }
  out[static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}
// [sum_shared]

// [sum_l1]
/// The same 16 KB where they are, in global memory: after the first time round they are in the L1
/// of every SM.
__global__ void sum_l1(const uint4* __restrict__ in, unsigned steps, unsigned* __restrict__ out) {
  unsigned sum = 0;
  unsigned at = threadIdx.x;
#pragma unroll 8
  for (unsigned i = 0; i < steps; ++i) {
    const uint4 unit = __ldca(in + at % kSharedUnits);
    sum += unit.x + unit.y + unit.z + unit.w;
    at += blockDim.x;
  }
  out[static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}
// [sum_l1]

// [copy_words]
/// Reads and writes: 16 bytes per thread. Blocks of 256 threads in x. Both arrays must be aligned
/// to 16 bytes.
__global__ void __launch_bounds__(256)
    copy_words(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t words) {
  const size_t first = 4 * (static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x);
  if (first + 4 <= words) {
    *reinterpret_cast<uint4*>(out + first) = *reinterpret_cast<const uint4*>(in + first);
  } else {
    // the last thread with work: up to three words
    for (size_t at = first; at < words; ++at) out[at] = in[at];
  }
}
// [copy_words]

// ---------------------------------------------------------------- loads against arithmetic

// [vector_add]
/// c = a + b: two loads, one addition, one store. A thread per element.
__global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b,
                           float* __restrict__ c, size_t n) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
// [vector_add]

// [vector_add_clocked]
/// One warp of it, alone on the machine, with a watch: from asking for a and b until the sum is
/// there. Adds elements first .. first + 31; all arrays must have them.
__global__ void vector_add_clocked(const volatile float* a, const volatile float* b,
                                   volatile float* c, size_t first, long long* cycles) {
  const size_t i = first + threadIdx.x;
  const long long begin = clock64();
  const float x = a[i];
  const float y = b[i];
  c[i] = x + y;
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
}
// [vector_add_clocked]

// [fma_per_element]
/// The same traffic, more and more arithmetic: reads a float, does `fmas` multiply-adds on it,
/// writes it. 8 bytes and 2 * fmas floating-point operations per element. Four neighbouring
/// elements per thread, so four chains. Blocks of 256 threads in x. Both arrays must be aligned to
/// 16 bytes.
__global__ void __launch_bounds__(256)
    fma_per_element(const float* __restrict__ in, float* __restrict__ out, size_t n, unsigned fmas,
                    float a, float b) {
  const size_t first = 4 * (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x);
  if (first >= n) return;
  float x[4] = {};
  const bool whole = first + 4 <= n;
  if (whole) {
    const float4 four = *reinterpret_cast<const float4*>(in + first);
    x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
  } else {
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (first + e < n) x[e] = in[first + e];
  }
#pragma unroll 16
  for (unsigned i = 0; i < fmas; ++i) {
#pragma unroll
    for (int e = 0; e < 4; ++e) x[e] = fmaf(a, x[e], b);
  }
  if (whole) {
    *reinterpret_cast<float4*>(out + first) = make_float4(x[0], x[1], x[2], x[3]);
  } else {
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (first + e < n) out[first + e] = x[e];
  }
}
// [fma_per_element]

// ---------------------------------------------------------------- launches

/// The most blocks that a grid can have in x.
constexpr size_t kMostBlocks = (size_t{1} << 31) - 1;

/// True when an address is one where 16 bytes can be read or written at once.
inline bool aligned_to_16(const void* address) {
  return reinterpret_cast<size_t>(address) % 16 == 0;
}

/// `w`: kNear weights in host memory. At most 256 threads per block.
inline cudaError_t launch_five_memories(const float* w, const float* in, float* out, size_t n,
                                        unsigned threads, cudaStream_t stream = nullptr) {
  if (threads < 1 || threads > 256 || n / threads >= kMostBlocks) return cudaErrorInvalidValue;
  const cudaError_t copied =
      cudaMemcpyToSymbolAsync(weights, w, kNear * sizeof(float), 0, cudaMemcpyHostToDevice, stream);
  if (copied != cudaSuccess || n == 0) return copied;
  five_memories<<<static_cast<unsigned>((n + threads - 1) / threads), threads, 0, stream>>>(in, out,
                                                                                            n);
  return cudaGetLastError();
}

// [launch]
/// All of these start a kernel and do not wait. They return cudaErrorInvalidValue for what the
/// kernel cannot do (see there), else what the launch reports. Nothing to do is no error.
inline cudaError_t launch_fma_latency(unsigned lanes, float a, float b, unsigned steps, float* out,
                                      long long* cycles, cudaStream_t stream = nullptr) {
  if (lanes < 1 || lanes > 32) return cudaErrorInvalidValue;
  fma_latency<<<1, lanes, 0, stream>>>(a, b, steps, out, cycles);
  return cudaGetLastError();
}
// [launch]

/// *place must hold the address of a link in device memory.
inline cudaError_t launch_chase_global(unsigned long long* place, unsigned lead, unsigned steps,
                                       long long* cycles, cudaStream_t stream = nullptr) {
  chase_global<<<1, 1, 0, stream>>>(place, lead, steps, cycles);
  return cudaGetLastError();
}

/// place[lane] must hold byte offsets of links in the ring; so must the links themselves.
inline cudaError_t launch_chase_shared(const unsigned* ring, unsigned words, unsigned lanes,
                                       unsigned* place, unsigned steps, long long* cycles,
                                       cudaStream_t stream = nullptr) {
  if (words < 1 || words > kSharedRing || lanes < 1 || lanes > 32) return cudaErrorInvalidValue;
  chase_shared<<<1, lanes, 0, stream>>>(ring, words, place, steps, cycles);
  return cudaGetLastError();
}

/// Takes the ring, in device memory, into constant memory first.
inline cudaError_t launch_chase_constant(const unsigned* ring, unsigned words, unsigned lanes,
                                         unsigned* place, unsigned steps, long long* cycles,
                                         cudaStream_t stream = nullptr) {
  if (words < 1 || words > kConstantRing || lanes < 1 || lanes > 32) return cudaErrorInvalidValue;
  const cudaError_t copied = cudaMemcpyToSymbolAsync(constant_ring, ring, words * sizeof(unsigned),
                                                     0, cudaMemcpyDeviceToDevice, stream);
  if (copied != cudaSuccess) return copied;
  chase_constant<<<1, lanes, 0, stream>>>(place, steps, cycles);
  return cudaGetLastError();
}

inline cudaError_t launch_chase_local(const unsigned* ring, unsigned words, unsigned lanes,
                                      unsigned* place, unsigned steps, long long* cycles,
                                      cudaStream_t stream = nullptr) {
  if (words < 1 || words > kLocalRing || lanes < 1 || lanes > 32) return cudaErrorInvalidValue;
  chase_local<<<1, lanes, 0, stream>>>(ring, words, place, steps, cycles);
  return cudaGetLastError();
}

/// Writes CHAINS * blocks * threads floats.
template <int CHAINS>
cudaError_t launch_fma_chains(unsigned blocks, unsigned threads, float a, float b, unsigned steps,
                              float* out, cudaStream_t stream = nullptr) {
  if (blocks < 1 || blocks > kMostBlocks || threads < 1) return cudaErrorInvalidValue;
  fma_chains<CHAINS><<<blocks, threads, 0, stream>>>(a, b, steps, out);
  return cudaGetLastError();
}

/// Writes blocks * threads sums. At most 256 threads per block.
template <int LOADS>
cudaError_t launch_sum_words(unsigned blocks, unsigned threads, const unsigned* in, size_t words,
                             unsigned* out, cudaStream_t stream = nullptr) {
  if (blocks < 1 || blocks > kMostBlocks || threads < 1 || threads > 256 || !aligned_to_16(in))
    return cudaErrorInvalidValue;
  sum_words<LOADS><<<blocks, threads, 0, stream>>>(in, words, out);
  return cudaGetLastError();
}

/// `words` must be a multiple of 4.
inline cudaError_t launch_sum_l2(unsigned blocks, unsigned threads, const unsigned* in,
                                 size_t words, unsigned passes, unsigned* out,
                                 cudaStream_t stream = nullptr) {
  if (blocks < 1 || blocks > kMostBlocks || threads < 1 || words % 4 != 0 || !aligned_to_16(in))
    return cudaErrorInvalidValue;
  sum_l2<<<blocks, threads, 0, stream>>>(reinterpret_cast<const uint4*>(in), words / 4, passes,
                                         out);
  return cudaGetLastError();
}

/// `in` must have 4 * kSharedUnits words, for this one and the next.
inline cudaError_t launch_sum_shared(unsigned blocks, unsigned threads, const unsigned* in,
                                     unsigned steps, unsigned* out, cudaStream_t stream = nullptr) {
  if (blocks < 1 || blocks > kMostBlocks || threads < 1 || !aligned_to_16(in))
    return cudaErrorInvalidValue;
  sum_shared<<<blocks, threads, 0, stream>>>(reinterpret_cast<const uint4*>(in), steps, out);
  return cudaGetLastError();
}

inline cudaError_t launch_sum_l1(unsigned blocks, unsigned threads, const unsigned* in,
                                 unsigned steps, unsigned* out, cudaStream_t stream = nullptr) {
  if (blocks < 1 || blocks > kMostBlocks || threads < 1 || !aligned_to_16(in))
    return cudaErrorInvalidValue;
  sum_l1<<<blocks, threads, 0, stream>>>(reinterpret_cast<const uint4*>(in), steps, out);
  return cudaGetLastError();
}

inline cudaError_t launch_copy_words(const unsigned* in, unsigned* out, size_t words,
                                     cudaStream_t stream = nullptr) {
  const size_t blocks = words / 1024 + (words % 1024 != 0);
  if (blocks > kMostBlocks || !aligned_to_16(in) || !aligned_to_16(out))
    return cudaErrorInvalidValue;
  if (blocks > 0) copy_words<<<static_cast<unsigned>(blocks), 256, 0, stream>>>(in, out, words);
  return cudaGetLastError();
}

inline cudaError_t launch_vector_add(const float* a, const float* b, float* c, size_t n,
                                     cudaStream_t stream = nullptr) {
  const size_t blocks = n / 256 + (n % 256 != 0);
  if (blocks > kMostBlocks) return cudaErrorInvalidValue;
  if (blocks > 0) vector_add<<<static_cast<unsigned>(blocks), 256, 0, stream>>>(a, b, c, n);
  return cudaGetLastError();
}

/// One warp: elements first .. first + 31.
inline cudaError_t launch_vector_add_clocked(const float* a, const float* b, float* c, size_t first,
                                             long long* cycles, cudaStream_t stream = nullptr) {
  vector_add_clocked<<<1, 32, 0, stream>>>(a, b, c, first, cycles);
  return cudaGetLastError();
}

inline cudaError_t launch_fma_per_element(const float* in, float* out, size_t n, unsigned fmas,
                                          float a, float b, cudaStream_t stream = nullptr) {
  const size_t blocks = n / 1024 + (n % 1024 != 0);
  if (blocks > kMostBlocks || !aligned_to_16(in) || !aligned_to_16(out))
    return cudaErrorInvalidValue;
  if (blocks > 0)
    fma_per_element<<<static_cast<unsigned>(blocks), 256, 0, stream>>>(in, out, n, fmas, a, b);
  return cudaGetLastError();
}
