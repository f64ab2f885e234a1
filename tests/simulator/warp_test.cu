// Shuffles, votes, matches, reductions and __syncwarp, against CUDA's documented semantics.
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "on_device.hpp"

namespace {

constexpr unsigned kAll = 0xffffffffu;
enum Kind { kIndex, kUp, kDown, kXor };

// A value that differs between threads in its high and low bits.
template <class T>
__host__ __device__ T value_of(int thread) {
  return static_cast<T>(thread * 3 - 50) * static_cast<T>(sizeof(T) == 8 ? 1000003 * 4096.0 : 1.0);
}

template <class T>
__global__ void shuffle(T* out, int kind, int amount, int width) {
  const int thread = threadIdx.x;
  const T value = value_of<T>(thread);
  T result{};
  if (kind == kIndex) result = __shfl_sync(kAll, value, amount, width);
  if (kind == kUp) result = __shfl_up_sync(kAll, value, amount, width);
  if (kind == kDown) result = __shfl_down_sync(kAll, value, amount, width);
  if (kind == kXor) result = __shfl_xor_sync(kAll, value, amount, width);
  out[thread] = result;
}

// The programming guide's rules, one lane at a time.
int documented_source(int kind, int lane, int amount, int width) {
  const int group = lane / width, within = lane % width;
  switch (kind) {
    case kIndex:
      return group * width + ((amount % width) + width) % width;
    case kUp:
      return within - amount < 0 ? lane : lane - amount;
    case kDown:
      return within + amount >= width ? lane : lane + amount;
    default: {
      const int other = lane ^ amount;
      return other / width > group ? lane : other;  // earlier groups may be read, later ones not
    }
  }
}

template <class T>
void check_shuffles() {
  constexpr int threads = 64;
  for (int kind = kIndex; kind <= kXor; ++kind) {
    for (int width = 1; width <= 32; width *= 2) {
      for (int amount : {0, 1, 2, 3, 5, 8, 15, 16, 17, 30, 31}) {
        const auto out = on_device<T>(1, threads, threads, shuffle<T>, kind, amount, width);
        for (int thread = 0; thread < threads; ++thread) {
          const int source = thread / 32 * 32 + documented_source(kind, thread % 32, amount, width);
          INFO("kind " << kind << " amount " << amount << " width " << width << " thread " << thread);
          REQUIRE(out[thread] == value_of<T>(source));
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("shuffles of 32-bit values, every kind, width and amount") {
  check_shuffles<int>();
  check_shuffles<float>();
}

TEST_CASE("shuffles of 64-bit values, every kind, width and amount") {
  check_shuffles<double>();
  check_shuffles<unsigned long long>();
}

TEST_CASE("an index beyond the width wraps round, also a negative one") {
  for (int source : {-1, -5, 32, 33, 63, 1000}) {
    const auto out = on_device<long long>(1, 32, 32, shuffle<long long>, int(kIndex), source, 8);
    for (int lane = 0; lane < 32; ++lane) {
      REQUIRE(out[lane] == value_of<long long>(documented_source(kIndex, lane, source, 8)));
    }
  }
}

namespace {

__global__ void small_types(int* out) {
  const int lane = threadIdx.x;
  const char c = static_cast<char>(lane - 16);
  const unsigned short u = static_cast<unsigned short>(lane + 65500);
  const bool b = lane % 3 == 0;
  out[lane] = __shfl_sync(kAll, c, 0);
  out[32 + lane] = __shfl_sync(kAll, u, 31);
  out[64 + lane] = __shfl_sync(kAll, b, 3);
}

}  // namespace

TEST_CASE("small integers are promoted by a shuffle") {
  const auto out = on_device<int>(1, 32, 96, small_types);
  for (int lane = 0; lane < 32; ++lane) {
    REQUIRE(out[lane] == -16);
    REQUIRE(out[32 + lane] == 65531);
    REQUIRE(out[64 + lane] == 1);
  }
}

namespace {

// Sum and inclusive scan of each warp; several blocks of several warps.
__global__ void sum_and_scan(int* out) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  int sum = thread * thread;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(kAll, sum, offset);
  int scan = thread * thread;
  for (int offset = 1; offset < 32; offset *= 2) {
    const int before = __shfl_up_sync(kAll, scan, offset);
    if (lane >= offset) scan += before;
  }
  out[2 * thread] = __shfl_sync(kAll, sum, 0);
  out[2 * thread + 1] = scan;
}

}  // namespace

TEST_CASE("warp sum and warp scan") {
  constexpr int threads = 3 * 96;
  const auto out = on_device<int>(3, 96, 2 * threads, sum_and_scan);
  for (int warp = 0; warp < threads / 32; ++warp) {
    int running = 0;
    for (int lane = 0; lane < 32; ++lane) {
      const int thread = warp * 32 + lane;
      running += thread * thread;
      REQUIRE(out[2 * thread + 1] == running);
    }
    for (int lane = 0; lane < 32; ++lane) REQUIRE(out[2 * (warp * 32 + lane)] == running);
  }
}

namespace {

// The second warp has 8 threads only: their mask is 0xff.
__global__ void partial_warp(unsigned* out) {
  const unsigned thread = threadIdx.x;
  const unsigned mask = thread < 32 ? kAll : 0xffu;
  out[4 * thread] = __ballot_sync(mask, thread % 3 == 0);
  out[4 * thread + 1] = __shfl_sync(mask, thread, 5);
  out[4 * thread + 2] = __shfl_xor_sync(mask, thread, 3);
  out[4 * thread + 3] = __all_sync(mask, thread < 40) + 2 * __any_sync(mask, thread == 7);
}

}  // namespace

TEST_CASE("a partial last warp") {
  const auto out = on_device<unsigned>(1, 40, 160, partial_warp);
  for (unsigned thread = 0; thread < 40; ++thread) {
    const unsigned first = thread / 32 * 32, lanes = thread < 32 ? 32 : 8;
    unsigned ballot = 0;
    for (unsigned lane = 0; lane < lanes; ++lane) ballot |= unsigned((first + lane) % 3 == 0) << lane;
    REQUIRE(out[4 * thread] == ballot);
    REQUIRE(out[4 * thread + 1] == first + 5);
    REQUIRE(out[4 * thread + 2] == (thread ^ 3u));
    REQUIRE(out[4 * thread + 3] == 1 + (thread < 32 ? 2u : 0u));
  }
}

namespace {

// Even and odd lanes part, each side works with its own mask, with different numbers of rounds; then all meet.
__global__ void divergent(int* out) {
  const int lane = threadIdx.x;
  int value = lane;
  if (lane % 2 == 0) {
    for (int round = 0; round < 5; ++round) value = __shfl_sync(0x55555555u, value, (lane + 2) % 32);
  } else {
    for (int round = 0; round < 3; ++round) value = __shfl_sync(0xaaaaaaaau, value, (lane + 30) % 32);
  }
  __syncwarp();
  out[lane] = value;
  out[32 + lane] = __shfl_xor_sync(kAll, value, 1);
}

// Lanes from 20 on leave at once; the others carry on without them.
__global__ void early_exit(unsigned* out) {
  const unsigned lane = threadIdx.x;
  if (lane >= 20) return;
  const unsigned mask = (1u << 20) - 1u;
  unsigned sum = 0;
  for (unsigned round = 0; round <= lane % 4; ++round) sum += round;  // uneven work between
  out[3 * lane] = __shfl_sync(mask, sum + lane, 19);
  out[3 * lane + 1] = __ballot_sync(mask, lane & 1u);
  __syncwarp(mask);
  out[3 * lane + 2] = __shfl_down_sync(mask, lane, 1, 4);
}

// Each lane leaves in its own round of the loop; the mask shrinks accordingly.
__global__ void leave_one_by_one(unsigned* out) {
  const unsigned lane = threadIdx.x;
  unsigned mask = kAll, sum = 0;
  for (unsigned round = 0; round < 32; ++round) {
    mask = __ballot_sync(mask, lane >= round);
    if (lane < round) break;
    sum += __popc(mask);
  }
  out[lane] = sum;
}

}  // namespace

TEST_CASE("diverged lanes shuffle among themselves, then meet again") {
  const auto out = on_device<int>(1, 32, 64, divergent);
  for (int lane = 0; lane < 32; ++lane) {
    const auto expected = [](int l) { return l % 2 == 0 ? (l + 10) % 32 : (l + 32 - 6) % 32; };
    REQUIRE(out[lane] == expected(lane));
    REQUIRE(out[32 + lane] == expected(lane ^ 1));
  }
}

TEST_CASE("threads that left early take no part") {
  const auto out = on_device<unsigned>(1, 32, 60, early_exit);
  for (unsigned lane = 0; lane < 20; ++lane) {
    REQUIRE(out[3 * lane] == 19 + 6);  // lane 19 sums 0 + 1 + 2 + 3
    REQUIRE(out[3 * lane + 1] == 0xaaaaau);
    REQUIRE(out[3 * lane + 2] == (lane % 4 == 3 ? lane : lane + 1));
  }
}

TEST_CASE("lanes that leave a loop one by one") {
  const auto out = on_device<unsigned>(1, 32, 32, leave_one_by_one);
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned sum = 0;
    for (unsigned round = 0; round <= lane; ++round) sum += 32 - round;
    REQUIRE(out[lane] == sum);
  }
}

namespace {

__global__ void votes(unsigned* out, unsigned pattern) {
  const unsigned lane = threadIdx.x;
  const int predicate = (pattern >> lane & 1u) ? 7 : 0;  // any value but 0 is true
  out[3 * lane] = __ballot_sync(kAll, predicate);
  out[3 * lane + 1] = __any_sync(kAll, predicate) != 0;
  out[3 * lane + 2] = __all_sync(kAll, predicate) != 0;
}

__global__ void active(unsigned* out) {
  const unsigned lane = threadIdx.x;
  out[lane] = 0;
  if (lane % 4 == 1) out[lane] = __activemask();
}

}  // namespace

TEST_CASE("votes") {
  for (unsigned pattern : {0u, 1u, 0x80000000u, 0x12345678u, 0xfffffffeu, 0xffffffffu}) {
    const auto out = on_device<unsigned>(1, 32, 96, votes, pattern);
    for (int lane = 0; lane < 32; ++lane) {
      REQUIRE(out[3 * lane] == pattern);
      REQUIRE(out[3 * lane + 1] == (pattern != 0));
      REQUIRE(out[3 * lane + 2] == (pattern == kAll));
    }
  }
}

TEST_CASE("the active mask holds the caller and nobody who took the other branch") {
  const auto out = on_device<unsigned>(1, 32, 32, active);
  for (unsigned lane = 1; lane < 32; lane += 4) {
    REQUIRE((out[lane] >> lane & 1u) == 1u);
    REQUIRE((out[lane] & ~0x22222222u) == 0u);
  }
}

namespace {

__host__ __device__ int label_of(int lane, int kinds) { return (lane * 7 + lane / 5) % kinds; }

__global__ void match(unsigned* out, int kinds) {
  const int lane = threadIdx.x;
  const int label = label_of(lane, kinds);
  int same = -1, same_double = -1;
  out[5 * lane] = __match_any_sync(kAll, label);
  out[5 * lane + 1] = __match_any_sync(kAll, (static_cast<unsigned long long>(label) << 40) + 1);
  out[5 * lane + 2] = __match_all_sync(kAll, label, &same);
  out[5 * lane + 3] = static_cast<unsigned>(same != 0);
  out[5 * lane + 4] = __match_all_sync(kAll, 2.5 * kinds, &same_double) + static_cast<unsigned>(same_double != 0);
}

__global__ void reduce(unsigned* out) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const unsigned lane = threadIdx.x;
  const unsigned bits = lane * 2654435761u;
  const unsigned mask = lane < 13 ? 0x1fffu : ~0x1fffu;
  unsigned* row = out + 8 * lane;
  row[0] = __reduce_add_sync(mask, bits);
  row[1] = __reduce_min_sync(mask, bits);
  row[2] = __reduce_max_sync(mask, bits);
  row[3] = static_cast<unsigned>(__reduce_min_sync(mask, static_cast<int>(bits)));
  row[4] = static_cast<unsigned>(__reduce_max_sync(mask, static_cast<int>(bits)));
  row[5] = __reduce_and_sync(mask, bits | 0x1010u);
  row[6] = __reduce_or_sync(mask, bits & 0x0ff0u);
  row[7] = __reduce_xor_sync(mask, bits);
#endif
}

}  // namespace

TEST_CASE("matches") {
  for (int kinds : {1, 2, 5, 31}) {
    const auto out = on_device<unsigned>(1, 32, 160, match, kinds);
    for (int lane = 0; lane < 32; ++lane) {
      unsigned peers = 0;
      for (int other = 0; other < 32; ++other) {
        if (label_of(other, kinds) == label_of(lane, kinds)) peers |= 1u << other;
      }
      REQUIRE(out[5 * lane] == peers);
      REQUIRE(out[5 * lane + 1] == peers);
      REQUIRE(out[5 * lane + 2] == (kinds == 1 ? kAll : 0u));
      REQUIRE(out[5 * lane + 3] == (kinds == 1 ? 1u : 0u));
      REQUIRE(out[5 * lane + 4] == kAll + 1u);
    }
  }
}

TEST_CASE("integer reductions over two parts of a warp") {
  if (compute_capability_major() < 8) return;  // the instruction came with compute capability 8.0
  const auto out = on_device<unsigned>(1, 32, 256, reduce);
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned first = lane < 13 ? 0 : 13, last = lane < 13 ? 13 : 32;
    unsigned sum = 0, low = kAll, high = 0, all = kAll, any = 0, odd = 0;
    int signed_low = INT32_MAX, signed_high = INT32_MIN;
    for (unsigned other = first; other < last; ++other) {
      const unsigned bits = other * 2654435761u;
      sum += bits, all &= bits | 0x1010u, any |= bits & 0x0ff0u, odd ^= bits;
      if (bits < low) low = bits;
      if (bits > high) high = bits;
      if (static_cast<int>(bits) < signed_low) signed_low = static_cast<int>(bits);
      if (static_cast<int>(bits) > signed_high) signed_high = static_cast<int>(bits);
    }
    const unsigned* row = &out[8 * lane];
    REQUIRE(row[0] == sum);
    REQUIRE(row[1] == low);
    REQUIRE(row[2] == high);
    REQUIRE(row[3] == static_cast<unsigned>(signed_low));
    REQUIRE(row[4] == static_cast<unsigned>(signed_high));
    REQUIRE(row[5] == all);
    REQUIRE(row[6] == any);
    REQUIRE(row[7] == odd);
  }
}

namespace {

// Lanes hand values round through shared memory, ordered by __syncwarp alone.
__global__ void rotate_in_shared(int* out) {
  __shared__ int slots[64];
  const int thread = threadIdx.x, warp = thread / 32 * 32, lane = thread % 32;
  int value = thread;
  for (int round = 0; round < 3; ++round) {
    slots[thread] = value;
    __syncwarp();
    value = slots[warp + (lane + 1) % 32];
    __syncwarp();
  }
  out[thread] = value;
}

}  // namespace

TEST_CASE("__syncwarp orders shared memory within a warp") {
  const auto out = on_device<int>(1, 64, 64, rotate_in_shared);
  for (int thread = 0; thread < 64; ++thread) REQUIRE(out[thread] == thread / 32 * 32 + (thread % 32 + 3) % 32);
}
