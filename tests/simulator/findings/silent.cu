// Correct programs that come close to being wrong. None may have a finding.
#include <cooperative_groups.h>

#include "cases.hpp"

namespace cg = cooperative_groups;

// Several threads store the same value: whichever is last, the result is the same.
__global__ void any_negative(const int* data, int* found) {
  if (data[blockIdx.x * blockDim.x + threadIdx.x] == 0) *found = 1;
}
CASE(same_value) { int *d = zeros<int>(128), *f = zeros<int>(1); any_negative<<<2, 64>>>(d, f); return finish(d, f); }

// Plain reads beside atomics get the old value or the new one.
__global__ void largest(const float* data, unsigned* best) {
  unsigned mine = __float_as_uint(data[threadIdx.x] + threadIdx.x), old = *best;
  while (mine > old) {
    unsigned seen = atomicCAS(best, old, mine);
    if (seen == old) break;
    old = seen;
  }
}
CASE(compare_and_swap) { float* d = zeros<float>(64); unsigned* b = zeros<unsigned>(1); largest<<<2, 64>>>(d, b); return finish(d, b); }

// A lock, taken by one thread of each warp.
__global__ void locked(int* lock, int* data) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  for (int i = 0; i < 4; ++i) data[i] += i;
  __threadfence();
  atomicExch(lock, 0);
}
CASE(lock) { int *l = zeros<int>(1), *d = zeros<int>(4); locked<<<3, 128>>>(l, d); return finish(l, d); }

// The same with a volatile store that releases, and in shared memory.
__global__ void locked_shared(int* out) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 5) {
    while (atomicCAS(&lock, 0, 1) != 0) __nanosleep(100);
    __threadfence_block();
    sum += 1;
    __threadfence_block();
    *const_cast<volatile int*>(&lock) = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
CASE(lock_shared) { int* o = zeros<int>(2); locked_shared<<<2, 128>>>(o); return finish(o); }

// A flag between two warps of a block, and one between blocks.
__global__ void hand_to_warp(int* out) {
  __shared__ int value;
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    value = 42;
    __threadfence_block();
    ready = 1;
  }
  if (threadIdx.x == 0) {
    while (ready == 0) {
    }
    __threadfence_block();
    *out = value;
  }
}
CASE(flag_in_block) { int* o = zeros<int>(1); hand_to_warp<<<1, 64>>>(o); return finish(o); }

__global__ void chained(int* sums, volatile int* ready) {
  if (threadIdx.x == 0) {
    int before = 0;
    if (blockIdx.x > 0) {
      while (ready[blockIdx.x - 1] == 0) {
      }
      __threadfence();
      before = sums[blockIdx.x - 1];
    }
    sums[blockIdx.x] = before + 1;
    __threadfence();
    ready[blockIdx.x] = 1;
  }
}
CASE(flag_between_blocks) { int *s = zeros<int>(5), *r = zeros<int>(5); chained<<<5, 32>>>(s, r); return finish(s, r); }

// "The last block": every block leaves its part, and the one that draws the last ticket adds them up.
__device__ unsigned tickets;
__global__ void sum_all(const float* data, float* parts, float* out) {
  __shared__ float s[64];
  __shared__ bool is_last;
  s[threadIdx.x] = data[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = s[0];
    __threadfence();
    is_last = atomicAdd(&tickets, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  float sum = 0;
  for (int b = threadIdx.x; b < gridDim.x; b += 64) sum += parts[b];
  s[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int t = 1; t < 64; ++t) sum += s[t];
    *out = sum;
    tickets = 0;
  }
}
CASE(last_block) {
  float *d = zeros<float>(512), *p = zeros<float>(8), *o = zeros<float>(1);
  for (int i = 0; i < 2; ++i) sum_all<<<8, 64>>>(d, p, o);
  return finish(d, p, o);
}

// Every thread fences what it wrote, one draws the ticket for all.
__global__ void all_fence(int* data, unsigned* ticket, int* out) {
  __shared__ bool last;
  data[blockIdx.x * 64 + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(ticket, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  __threadfence();
  if (last) out[threadIdx.x] = data[threadIdx.x] + data[64 + threadIdx.x];
}
CASE(all_threads_fence) { int *d = zeros<int>(128), *o = zeros<int>(64); unsigned* t = zeros<unsigned>(1); all_fence<<<2, 64>>>(d, t, o); return finish(d, o, t); }

// CUDA's guide: since compute capability 7.0 a barrier waits for the threads that have not ended.
__global__ void some_leave_early(const float* in, float* out, int n) {
  __shared__ float s[64];
  if (threadIdx.x >= n) return;
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[n - 1 - threadIdx.x];
}
CASE(threads_that_have_ended) { float *a = zeros<float>(64), *o = zeros<float>(64); some_leave_early<<<1, 64>>>(a, o, 40); return finish(a, o); }

// One barrier, whatever the compiler makes of it: unrolled, inlined in several places, in a branch that all threads take alike.
template <class T>
__device__ void shift(T* s, int by) {
  const T mine = s[(threadIdx.x + by) % 64];
  __syncthreads();
  s[threadIdx.x] = mine;
  __syncthreads();
}
template <int N>
__device__ void shift_often(float* s) {
  if constexpr (N > 0) {
    shift(s, N);
    shift_often<N - 1>(s);
  }
}
__device__ __noinline__ void shift_by_turns(float* s, int depth) {
  if (depth == 0) return;
  if (depth % 2) shift(s, 1); else shift(s, 2);
  __syncthreads(); __syncthreads();
  shift_by_turns(s, depth - 1);
}
__global__ void many_copies(float* out, int steps) {
  __shared__ float s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    shift(s, i);
    if (i % 3 == threadIdx.x % 3) continue;
    out[threadIdx.x] += 1;
  }
  for (int i = 0; i < steps; ++i) {
    float more = 0;
    if (threadIdx.x % 2) more = s[threadIdx.x]; else more = 2;
    for (int k = 0; k < int(threadIdx.x % 5); ++k) more += k;
    if (threadIdx.x > 40 && i == 1) more *= 2;
    __syncthreads();
    s[threadIdx.x] = more;
    __syncthreads();
    if (i % 2) __syncthreads();
    else shift(s, i);
  }
  __syncthreads();
  shift_often<5>(s);
  shift_by_turns(s, 4);
  auto block = cg::this_thread_block();
  block.sync();
  for (int i = 0; i < 2; ++i) block.sync();
  int any = 0;
  while (__syncthreads_or(threadIdx.x == 3 && any < 3)) ++any;
  out[threadIdx.x] = s[threadIdx.x] + any;
}
CASE(one_barrier_in_many_copies) { float* o = zeros<float>(64); many_copies<<<1, 64>>>(o, 4); return finish(o); }

// Two buffers need one barrier per step.
__global__ void double_buffer(const float* in, float* out, int steps) {
  __shared__ float tile[2][64];
  tile[0][threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < steps; ++i) {
    if (i + 1 < steps) tile[(i + 1) % 2][threadIdx.x] = in[(i + 1) * 64 + threadIdx.x];
    for (int k = 0; k < 64; ++k) sum += tile[i % 2][k];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
CASE(two_buffers) { float *a = zeros<float>(512), *o = zeros<float>(64); double_buffer<<<1, 64>>>(a, o, 8); return finish(a, o); }

// A reduction whose last steps are a warp's: __syncwarp() and shuffles order as well.
__global__ void reduce(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int half = 128; half > 32; half /= 2) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  if (t < 32) {
    int v = s[t] + s[t + 32];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    if (t < 16) s[t] += s[t + 16];
    __syncwarp();
    v = t < 16 ? s[t] : 0;
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (t == 0) *out = v;
  }
}
CASE(warp_reduction) { int *d = zeros<int>(256), *o = zeros<int>(1); reduce<<<1, 256>>>(d, o); return finish(d, o); }

// Tiles of a warp that meet more or less often than their neighbours, then all of it.
__global__ void tiles(int* out) {
  __shared__ int s[32], all;
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int t = threadIdx.x;
  for (unsigned i = 0; i < tile.meta_group_rank(); ++i) {
    s[t] = t;
    tile.sync();
    int left = s[(t & ~7) | ((t + 1) & 7)];
    tile.sync();
    s[t] = left + tile.shfl_xor(left, 1);
  }
  if (t == 0) all = 1;
  __syncwarp();
  int sum = all + (t >= 8 ? s[t] : 0);
  __syncwarp();
  if (t == 3) all = sum;
  s[t] = sum;
  __syncwarp();
  out[t] = s[31 - t] + all;
}
CASE(cooperative_tiles) { int* o = zeros<int>(32); tiles<<<1, 32>>>(o); return finish(o); }

// Threads share words, not bytes.
__global__ void bytes(unsigned char* image, unsigned short* halves) {
  __shared__ unsigned char row[64];
  row[threadIdx.x] = threadIdx.x;
  image[threadIdx.x] = row[threadIdx.x] + image[threadIdx.x];
  halves[threadIdx.x] += 1;
  __syncthreads();
  if (threadIdx.x < 16) reinterpret_cast<unsigned*>(image)[threadIdx.x] += reinterpret_cast<unsigned*>(row)[threadIdx.x];
}
CASE(bytes_of_words) { auto* i = zeros<unsigned char>(64); auto* h = zeros<unsigned short>(64); bytes<<<1, 64>>>(i, h); return finish(i, h); }

// Blocks of 33 threads: neighbours write the same sector and cache line.
__global__ void odd_blocks(unsigned char* out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = out[i] + 1;
}
CASE(neighbouring_blocks) { auto* o = zeros<unsigned char>(33 * 5); odd_blocks<<<5, 33>>>(o); return finish(o); }

// Nodes of a list, put in place by atomics.
struct Node { int next; int value; };
__global__ void build(Node* nodes, int* used, int* head) {
  int n = atomicAdd(used, 1);
  nodes[n].value = threadIdx.x;
  nodes[n].next = atomicExch(head, n);
}
__global__ void walk(const Node* nodes, const int* head, int* length) {
  int n = 0;
  for (int i = *head; n < 100 && i != 0; i = nodes[i].next) ++n;
  *length = n;
}
CASE(linked_list) {
  Node* n = nullptr;
  int *used = zeros<int>(1), *head = zeros<int>(1), *length = zeros<int>(1);
  cudaMalloc(&n, 65 * sizeof(Node));
  build<<<2, 32>>>(n, used, head);
  walk<<<1, 1>>>(n, head, length);
  return finish(n, used, head, length);
}

// Threads without work leave; the others go on to meet.
__global__ void early_exit(const float* in, float* out, int n) {
  __shared__ float s[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= n) return;
  s[threadIdx.x] = in[i];
  __syncthreads();
  int last = min(63, n - 1 - int(blockIdx.x) * 64);
  out[i] = s[last - threadIdx.x];
}
CASE(early_return) { float *a = zeros<float>(100), *o = zeros<float>(100); early_exit<<<2, 64>>>(a, o, 100); return finish(a, o); }

// A padded tile: the padding is never written, and never read.
__global__ void transpose(const float* in, float* out) {
  __shared__ float tile[16][17];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 16 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
CASE(padded_tile) { float *a = zeros<float>(256), *o = zeros<float>(256); transpose<<<1, dim3(16, 16)>>>(a, o); return finish(a, o); }

// One launch reads what another has written; streams that wait for each other.
__global__ void twice(const int* in, int* out) { out[threadIdx.x] = 2 * in[63 - threadIdx.x]; }
CASE(launch_after_launch) {
  int *a = zeros<int>(64), *b = nullptr;
  cudaMalloc(&b, 256);
  cudaStream_t one, two;
  cudaEvent_t done;
  cudaStreamCreate(&one);
  cudaStreamCreate(&two);
  cudaEventCreate(&done);
  twice<<<1, 64, 0, one>>>(a, b);
  cudaEventRecord(done, one);
  cudaStreamWaitEvent(two, done, 0);
  twice<<<1, 64, 0, two>>>(b, a);
  cudaStreamSynchronize(two);
  cudaEventDestroy(done);
  cudaStreamDestroy(one);
  cudaStreamDestroy(two);
  return finish(a, b);
}

__global__ void inner(int* a) { a[threadIdx.x] += 1; }
CASE(managed) {
  int* m = nullptr;
  cudaMallocManaged(&m, 256);
  for (int i = 0; i < 64; ++i) m[i] = i;
  inner<<<1, 64>>>(m);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < 64; ++i) wrong += m[i] != i + 1;
  return finish(m) + wrong;
}

// A struct copied whole carries bytes that no member has.
struct Best { double value; int index; };
__global__ void argmax(const double* data, int* out) {
  __shared__ Best s[32];
  s[threadIdx.x].value = data[threadIdx.x];
  s[threadIdx.x].index = threadIdx.x;
  __syncwarp();
  Best mine = s[threadIdx.x ^ 1];
  __syncwarp();
  s[threadIdx.x] = mine;
  out[threadIdx.x] = mine.index;
}
CASE(struct_padding) { double* d = zeros<double>(32); int* o = zeros<int>(32); argmax<<<1, 32>>>(d, o); return finish(d, o); }

// Constants that the program brings along.
__device__ int digit(const char* text, int i) { return text[i] - '0'; }
__global__ void literals(int* out, int i) {
  static constexpr int kTable[4] = {1, 2, 3, 4};
  const int* table = kTable;
  out[threadIdx.x] = digit("0123", i) + table[(threadIdx.x + i) & 3];
}
CASE(tables) { int* o = zeros<int>(4); literals<<<1, 4>>>(o, 2); return finish(o); }

// One barrier in a device function, called in every iteration; and a loop that all threads leave together.
__device__ int count_all(bool yes) { return __syncthreads_count(yes); }
__global__ void converge(int* data) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  while (true) {
    int left = 0;
    for (int i = 0; i < threadIdx.x % 3; ++i) left += i;
    if (count_all(s[threadIdx.x] > left) == 0) break;
    if (s[threadIdx.x] > left) s[threadIdx.x] /= 2;
    __syncthreads();
  }
  data[threadIdx.x] = s[threadIdx.x];
}
CASE(loop_with_vote) { int* d = zeros<int>(64); converge<<<1, 64>>>(d); return finish(d); }

// Sums over the lanes that have work, with a mask that says which.
__global__ void partial_warp(const int* in, int* out, int n) {
  unsigned mask = __ballot_sync(0xffffffff, threadIdx.x < n);
  if (threadIdx.x < n) {
    int sum = in[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) {
      int from = threadIdx.x + d;
      int other = __shfl_sync(mask, sum, from < n ? from : threadIdx.x);
      if (from < n) sum += other;
    }
    if (threadIdx.x == 0) *out = sum;
  }
}
CASE(lanes_with_work) { int *d = zeros<int>(32), *o = zeros<int>(1); partial_warp<<<1, 32>>>(d, o, 20); return finish(d, o); }

__global__ void add_everywhere(int* to, const int* from, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = from[i] + 1;
}
CASE(grid_stride_in_place) { int* d = zeros<int>(1000); add_everywhere<<<3, 64>>>(d, d, 1000); return finish(d); }

// The program asks for the error in its own time.
CASE(error_asked_for) {
  inner<<<1, 4096>>>(nullptr);
  cudaDeviceSynchronize();
  return cudaGetLastError() == cudaErrorInvalidConfiguration ? 0 : 1;
}

// Freed after main, by an object that lives as long as the program.
struct Owner {
  int* data = nullptr;
  ~Owner() { cudaFree(data); }
};
static Owner global_owner;
CASE(static_owner) {
  static Owner owner;
  owner.data = zeros<int>(4);
  global_owner.data = zeros<int>(4);
  inner<<<1, 4>>>(owner.data);
  return finish();
}

// Many bytes at once, of types that any multiple of 4 or 8 is right for: they are moved in pieces.
struct FourFloats { float a, b, c, d; };
struct TwoFloats { float a, b; };
struct TwoDoubles { double a, b; };
struct Particle { double mass; TwoDoubles place; };
template <class T>
__global__ void copy_items(const T* from, T* to) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void copy_places(const Particle* from, TwoDoubles* to) { to[threadIdx.x] = from[threadIdx.x].place; }
__global__ void copy_sixteen(const float* from, float* to) {
  float four[4];
  std::memcpy(four, from + 4 * threadIdx.x, 16);
  memcpy(to + 4 * threadIdx.x, four, 16);
}
__global__ void clear_sixteen(float* to) { memset(to + 4 * threadIdx.x, 0, 16); }
CASE(structs_at_odd_places) {
  float *a = zeros<float>(256), *b = zeros<float>(256);
  copy_items<<<1, 32>>>(reinterpret_cast<const FourFloats*>(a + 1), reinterpret_cast<FourFloats*>(b + 3));
  copy_items<<<1, 32>>>(reinterpret_cast<const TwoFloats*>(a + 1), reinterpret_cast<TwoFloats*>(b + 3));
  copy_items<<<1, 32>>>(reinterpret_cast<const TwoDoubles*>(a + 2), reinterpret_cast<TwoDoubles*>(b + 6));
  copy_places<<<1, 32>>>(reinterpret_cast<const Particle*>(a), reinterpret_cast<TwoDoubles*>(b));
  return finish(a, b);
}
CASE(bytes_at_odd_places) {
  float *a = zeros<float>(256), *b = zeros<float>(256);
  copy_sixteen<<<1, 32>>>(a + 1, b + 3);
  clear_sixteen<<<1, 32>>>(b + 1);
  return finish(a, b);
}
