// cuda::barrier, cuda::pipeline, and copies of a group: what arrives where, over several phases. Holds on a GPU of compute capability 8.0 too.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>

#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/type_traits>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "on_device.hpp"
#include "tilewise/device_buffer.hpp"
#ifdef TILEWISE_SIMULATOR
#include <tilewise_sim/report.hpp>
#endif

namespace cg = cooperative_groups;

namespace {

using tilewise::DeviceBuffer;
using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;
static_assert(cuda::std::is_same_v<int, int>);

bool skipped() {
  if (compute_capability_major() >= 8) return false;
  WARN("this GPU has no asynchronous copies: nothing is checked");
  return true;
}

std::vector<float> counted(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i % 97);
  return values;
}

#pragma nv_diag_suppress static_var_with_dynamic_init

// Each round, every thread reads what its neighbour wrote, in another warp, too.
__global__ void rounds(int* out, int count) {
  __shared__ BlockBarrier bar;
  __shared__ int s[2][96];
  const int t = threadIdx.x;
  if (t == 0) init(&bar, blockDim.x);
  __syncthreads();
  int value = t;
  for (int round = 0; round < count; ++round) {
    s[round % 2][t] = value;
    if (round % 3 == 0) {
      bar.arrive_and_wait();
    } else {
      BlockBarrier::arrival_token token = bar.arrive();
      bar.wait(std::move(token));
    }
    value = s[round % 2][(t + 1) % blockDim.x] + 1;
  }
  out[t] = value;
}

// Threads leave one after another, half of a warp at a time; the others go on without them.
__global__ void leaving(int* out) {
  __shared__ BlockBarrier bar;
  __shared__ int sum;
  if (threadIdx.x == 0) init(&bar, blockDim.x), sum = 0;
  __syncthreads();
  const int last = threadIdx.x / 16;
  for (int round = 0; round < last; ++round) {
    atomicAdd(&sum, 1);
    bar.arrive_and_wait();
  }
  bar.arrive_and_drop();
  if (last == 3) out[threadIdx.x % 16] = atomicAdd(&sum, 0);
}

// One warp arrives without waiting, the other waits for it.
__global__ void handed_over(int* out) {
  __shared__ BlockBarrier full;
  __shared__ int s[32];
  if (threadIdx.x == 0) init(&full, 64);
  __syncthreads();
  if (threadIdx.x < 32) {
    s[threadIdx.x] = 100 + threadIdx.x;
    (void)full.arrive();
  } else {
    full.wait(full.arrive());
    out[threadIdx.x - 32] = s[63 - threadIdx.x];
  }
}

__global__ void copied_to_barrier(float* out, const float* in) {
  __shared__ BlockBarrier bar;
  __shared__ __align__(16) float s[256];
  const int t = threadIdx.x;
  if (t == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(s + 4 * t, in + 4 * t, cuda::aligned_size_t<16>(4 * sizeof(float)), bar);
  bar.arrive_and_wait();
  for (int i = t; i < 256; i += blockDim.x) out[i] = s[255 - i];
}

// Two tiles are on their way while one is added up.
template <int kStages>
__global__ void sums_of_tiles(float* out, const float* in, int tiles) {
  __shared__ __align__(16) float s[kStages][64];
  const int t = threadIdx.x;
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  float sum = 0;
  for (int tile = 0, next = 0; tile < tiles; ++tile) {
    for (; next < tiles && next < tile + kStages; ++next) {
      pipe.producer_acquire();
      cuda::memcpy_async(&s[next % kStages][t], in + next * 64 + t, cuda::aligned_size_t<4>(4), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    __syncthreads();
    sum += s[tile % kStages][63 - t];
    __syncthreads();
    pipe.consumer_release();
  }
  out[t] = sum;
}

// A warp fetches, the others add up.
template <int kStages>
__global__ void by_roles(float* out, const float* in, int tiles) {
  __shared__ __align__(16) float s[kStages][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const auto block = cg::this_thread_block();
  const bool fetches = threadIdx.x < 32;
  auto pipe =
      cuda::make_pipeline(block, &state, fetches ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  if (fetches) {
    for (int tile = 0; tile < tiles; ++tile) {
      pipe.producer_acquire();
      const int i = 2 * threadIdx.x;
      cuda::memcpy_async(&s[tile % kStages][i], in + tile * 64 + i, cuda::aligned_size_t<8>(8), pipe);
      pipe.producer_commit();
    }
  } else {
    const int t = threadIdx.x - 32;
    float sum = 0;
    for (int tile = 0; tile < tiles; ++tile) {
      pipe.consumer_wait();
      sum += s[tile % kStages][63 - t];
      pipe.consumer_release();
    }
    out[t] = sum;
  }
}

__global__ void by_all(float* out, const float* in, int tiles) {
  __shared__ float s[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  float sum = 0;
  const auto fetch = [&](int tile) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, s[tile % 2], in + tile * 64, cuda::aligned_size_t<4>(sizeof s[0]), pipe);
    pipe.producer_commit();
  };
  fetch(0);
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) fetch(tile + 1);
    pipe.consumer_wait();
    sum += s[tile % 2][63 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

__global__ void of_a_group(float* out, const float* in, int n) {
  extern __shared__ __align__(16) float s[];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, in, sizeof(float) * n);
  cg::memcpy_async(block, s + n, in, sizeof(float) * n);
  cg::wait_prior<1>(block);
  for (int i = block.thread_rank(); i < n; i += block.size()) out[i] = s[n - 1 - i];
  cg::wait(block);
  for (int i = block.thread_rank(); i < n; i += block.size()) out[n + i] = s[2 * n - 1 - i];
}

void check_sums(const std::vector<float>& got, const std::vector<float>& in, std::size_t tiles) {
  for (std::size_t t = 0; t < 64; ++t) {
    float sum = 0;
    for (std::size_t tile = 0; tile < tiles; ++tile) sum += in[tile * 64 + 63 - t];
    INFO("thread " << t << ", " << tiles << " tiles");
    REQUIRE(got[t] == sum);
  }
}

}  // namespace

TEST_CASE("Barriers: every phase waits for all threads, of several warps", "[barriers]") {
  if (skipped()) return;
  for (const unsigned threads : {1u, 32u, 50u, 96u})
    for (const int count : {1, 7}) {
      const std::vector<int> got = on_device<int>(1, threads, threads, rounds, count);
      for (unsigned t = 0; t < threads; ++t) {
        INFO(threads << " threads, thread " << t);
        REQUIRE(got[t] == static_cast<int>((t + static_cast<unsigned>(count)) % threads) + count);
      }
    }
}

TEST_CASE("Barriers: threads that drop out are not waited for", "[barriers]") {
  if (skipped()) return;
  for (const int sum : on_device<int>(1, 64, 16, leaving)) REQUIRE(sum == 16 * (1 + 2 + 3));
}

TEST_CASE("Barriers: who arrives need not wait", "[barriers]") {
  if (skipped()) return;
  const std::vector<int> got = on_device<int>(1, 64, 32, handed_over);
  for (int t = 0; t < 32; ++t) REQUIRE(got[static_cast<std::size_t>(t)] == 131 - t);
}

TEST_CASE("Barriers: copies belong to the phase in which their thread arrives", "[barriers]") {
  if (skipped()) return;
  const std::vector<float> in = counted(256);
  const DeviceBuffer<float> memory(in);
  const std::vector<float> got = on_device<float>(1, 64, 256, copied_to_barrier, memory.data());
  for (std::size_t i = 0; i < 256; ++i) REQUIRE(got[i] == in[255 - i]);
}

TEST_CASE("Pipelines: of one thread, of a block by roles, and of a block whose threads do both", "[barriers]") {
  if (skipped()) return;
  for (const int tiles : {1, 2, 3, 8}) {
    const auto n = static_cast<std::size_t>(tiles);
    const std::vector<float> in = counted(64 * n);
    const DeviceBuffer<float> memory(in);
    check_sums(on_device<float>(1, 64, 64, sums_of_tiles<1>, memory.data(), tiles), in, n);
    check_sums(on_device<float>(1, 64, 64, sums_of_tiles<3>, memory.data(), tiles), in, n);
    check_sums(on_device<float>(1, 96, 64, by_roles<1>, memory.data(), tiles), in, n);
    check_sums(on_device<float>(1, 96, 64, by_roles<2>, memory.data(), tiles), in, n);
    check_sums(on_device<float>(1, 64, 64, by_all, memory.data(), tiles), in, n);
  }
}

TEST_CASE("cooperative_groups::memcpy_async: a group copies any number of elements, and waits", "[barriers]") {
  if (skipped()) return;
  for (const int n : {1, 31, 64, 200}) {
    const auto count = static_cast<std::size_t>(n);
    const std::vector<float> in = counted(count);
    const DeviceBuffer<float> memory(in);
    DeviceBuffer<float> out(2 * count);
    out.poison();
    of_a_group<<<1, 64, 2 * count * sizeof(float)>>>(out.data(), memory.data(), n);
    CUDA_CHECK_LAUNCH();
    const std::vector<float> got = out.to_host();
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE(got[i] == in[count - 1 - i]);
      REQUIRE(got[count + i] == in[count - 1 - i]);
    }
  }
}

#ifdef TILEWISE_SIMULATOR
TEST_CASE("Barriers: neither arrivals nor waits are counted as atomics, and copies are asynchronous ones",
          "[barriers]") {
  const std::vector<float> in = counted(256);
  const DeviceBuffer<float> memory(in);
  DeviceBuffer<float> out(256);
  const bool was = tilewise::sim::set_counting(true);
  copied_to_barrier<<<1, 64>>>(out.data(), memory.data());
  tilewise::sim::set_counting(was);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  const tilewise::sim::Counters c = tilewise::sim::last_counters();
  CHECK(c.async_copy_instructions == 2);
  CHECK(c.shared_load_instructions == 8);
  CHECK(c.shared_store_instructions == 0);
}
#endif
