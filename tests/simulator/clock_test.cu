// clock64() as kernels that measure themselves use it. On a GPU it counts cycles; here it only has to be a clock.
#include <cuda_runtime.h>

#include <vector>

#include "catch.hpp"
#include "on_device.hpp"

namespace {

/// Readings of one thread after the other; out[thread * readings + i].
__global__ void read_clock(long long* out, int readings) {
  for (int i = 0; i < readings; ++i) out[threadIdx.x * readings + i] = clock64();
}

/// Waits for the clock, as spin loops with a time-out do.
__global__ void wait_for_clock(long long* out, long long ticks) {
  const long long begin = clock64();
  long long now = begin;
  while (now - begin < ticks) now = clock64();
  *out = now - begin;
}

/// Also of host code, which has another clock of the same name.
__host__ __device__ clock_t reading() { return ::clock(); }

/// The same with differences of 32 bits, as NVIDIA's samples take them.
__global__ void wait_for_short_clock(long long* out, unsigned ticks) {
  const unsigned begin = (unsigned)clock();
  unsigned waited = 0;
  while (waited < ticks) waited = (unsigned)clock() - begin;
  *out = waited;
}

__global__ void read_short_clock(long long* out) {
  const clock_t first = reading();
  for (int i = 0; i < 3; ++i) out[i] = static_cast<long long>(clock() - first);
}

/// The clocks as inline PTX reads them, between two readings of clock64(). 32 bits are enough for differences.
__global__ void read_by_ptx(long long* out) {
  unsigned narrow, again;
  unsigned long long wide, timer, later;
  const long long before = clock64();
  asm volatile("mov.u32 %0, %%clock;" : "=r"(narrow)::"memory");
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(wide));
  asm volatile("mov.u32 %0, %%clock;" : "=r"(again));
  const long long after = clock64();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(later));
  out[0] = narrow - static_cast<unsigned>(before);
  out[1] = static_cast<long long>(wide) - before;
  out[2] = again - static_cast<unsigned>(wide);
  out[3] = after - static_cast<long long>(wide);
  out[4] = static_cast<long long>(later - timer);
}

}  // namespace

TEST_CASE("clock() of device code goes on, too", "[clock]") {
  const std::vector<long long> out = on_device<long long>(1, 1, 3, read_short_clock);
  CHECK(out[0] > 0);
  CHECK(out[1] > out[0]);
  CHECK(out[2] > out[1]);
  CHECK(reading() >= 0);
}

TEST_CASE("a thread's clock never goes back", "[clock]") {
  const int threads = 64, readings = 20;
  const std::vector<long long> out = on_device<long long>(1, threads, threads * readings, read_clock, readings);
  for (int thread = 0; thread < threads; ++thread) {
    for (int i = 1; i < readings; ++i) {
      INFO("thread " << thread << ", reading " << i);
      REQUIRE(out[thread * readings + i] > out[thread * readings + i - 1]);
    }
  }
}

TEST_CASE("a loop that waits for the clock ends", "[clock]") {
  CHECK(on_device<long long>(1, 1, 1, wait_for_clock, 10000LL)[0] >= 10000);
  // Half a second of a GPU. The simulator's clock hurries when a thread does nothing but wait.
  CHECK(on_device<long long>(1, 1, 1, wait_for_clock, 1000000000LL)[0] >= 1000000000LL);
  CHECK(on_device<long long>(1, 1, 1, wait_for_short_clock, 4000000000u)[0] >= 4000000000LL);
}

TEST_CASE("inline PTX reads the clock of clock64()", "[clock]") {
  const std::vector<long long> out = on_device<long long>(1, 1, 5, read_by_ptx);
  CHECK(out[0] > 0);
  CHECK(out[1] > out[0]);
  CHECK(out[2] > 0);
  CHECK(out[3] > out[2]);
  CHECK(out[4] >= 0);  // a GPU's global timer goes on in steps
#ifdef TILEWISE_SIMULATOR
  CHECK(out == std::vector<long long>{1, 2, 1, 2, 1000});
#endif
}

#ifdef TILEWISE_SIMULATOR
TEST_CASE("the simulator's clock counts readings, so that runs are alike", "[clock]") {
  const std::vector<long long> out = on_device<long long>(1, 2, 20, read_clock, 10);
  for (std::size_t i = 1; i < out.size(); ++i) CHECK(out[i] == out[0] + static_cast<long long>(i));
  // The C library's clock counts microseconds: it would not go on by one at each reading.
  const std::vector<long long> differences = on_device<long long>(1, 1, 3, read_short_clock);
  CHECK(differences == std::vector<long long>{1, 2, 3});
}
#endif
