// Asynchronous copies: what they bring, on both machines, and what is counted of them on the simulator. What is found when one
// goes wrong is in findings/async.cu.
#include <cuda_pipeline.h>

#include <cstddef>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "on_device.hpp"
#include "tilewise/device_buffer.hpp"
#ifdef TILEWISE_SIMULATOR
#include <tilewise_sim/report.hpp>
#endif

namespace {

constexpr int kThreads = 64;

/// 1, 2, 3, ...
std::vector<float> numbers(std::size_t n) {
  std::vector<float> all(n);
  std::iota(all.begin(), all.end(), 1.0f);
  return all;
}

// Three rows of a matrix are on their way while one is used: out[t] is the sum of column n - 1 - t.
__global__ void columns(float* out, const float* in, int rows) {
  __shared__ float s[4][kThreads];
  const int t = threadIdx.x;
  for (int r = 0; r < 3; ++r) {
    if (r < rows) __pipeline_memcpy_async(&s[r][t], &in[r * kThreads + t], sizeof(float));
    __pipeline_commit();
  }
  float sum = 0;
  for (int r = 0; r < rows; ++r) {
    __pipeline_wait_prior(2);
    __syncthreads();
    const int next = r + 3;
    if (next < rows) __pipeline_memcpy_async(&s[next % 4][t], &in[next * kThreads + t], sizeof(float));
    __pipeline_commit();
    sum += s[r % 4][kThreads - 1 - t];
  }
  out[t] = sum;
}

// Of each thread's `Word` the first `words` words are copied; the rest becomes zeros.
template <class Word, int words>
__global__ void in_part(float* out, const float* in) {
  constexpr int kWords = sizeof(Word) / sizeof(float);
  __shared__ __align__(16) float s[kThreads * kWords];
  const int first = threadIdx.x * kWords;
  __pipeline_memcpy_async(&s[first], &in[first], sizeof(Word), sizeof(Word) - words * sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (int k = 0; k < kWords; ++k) out[first + k] = s[first + k];
}

template <class Word, int words>
void check_in_part() {
  constexpr std::size_t kWords = sizeof(Word) / sizeof(float);
  const std::vector<float> all = numbers(kThreads * kWords);
  const tilewise::DeviceBuffer<float> in(all);
  const std::vector<float> got = on_device(1, kThreads, all.size(), in_part<Word, words>, in.data());
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO(sizeof(Word) << " bytes, " << words << " words, element " << i);
    REQUIRE(got[i] == (i % kWords < words ? all[i] : 0.0f));
  }
}

}  // namespace

TEST_CASE("Asynchronous copies of three stages ahead, also of fewer rows than stages", "[async]") {
  for (const int rows : {1, 2, 3, 4, 5, 9}) {
    const std::vector<float> all = numbers(static_cast<std::size_t>(rows) * kThreads);
    const tilewise::DeviceBuffer<float> in(all);
    const std::vector<float> got = on_device(1, kThreads, kThreads, columns, in.data(), rows);
    for (int t = 0; t < kThreads; ++t) {
      float sum = 0;
      for (int r = 0; r < rows; ++r) sum += all[static_cast<std::size_t>(r * kThreads + kThreads - 1 - t)];
      INFO(rows << " rows, thread " << t);
      REQUIRE(got[static_cast<std::size_t>(t)] == sum);
    }
  }
}

TEST_CASE("Asynchronous copies fill with zeros what they do not read", "[async]") {
  check_in_part<float, 1>();
  check_in_part<float, 0>();
  check_in_part<float2, 2>();
  check_in_part<float2, 1>();
  check_in_part<float2, 0>();
  check_in_part<float4, 4>();
  check_in_part<float4, 3>();
  check_in_part<float4, 1>();
  check_in_part<float4, 0>();
}

#ifdef TILEWISE_SIMULATOR

namespace {

using tilewise::sim::Counters;

// Lane i copies word i * from to word i * to; every second lane when `half`.
template <class Word>
__global__ void copy(float*, const Word* in, int from, int to, bool half, int times) {
  extern __shared__ __align__(16) char memory[];
  auto* s = reinterpret_cast<Word*>(memory);
  for (int i = 0; i < times; ++i) {
    if (!half || threadIdx.x % 2 == 0)
      __pipeline_memcpy_async(&s[threadIdx.x * to], &in[threadIdx.x * from], sizeof(Word));
    __pipeline_commit();
    __pipeline_wait_prior(0);
  }
}

template <class Word>
Counters counts_of(int from, int to, bool half = false, int times = 1) {
  const tilewise::DeviceBuffer<float> in(numbers(32 * 32 * sizeof(Word) / sizeof(float)));
  const bool was = tilewise::sim::set_counting(true);
  copy<Word><<<1, 32, 32 << 10>>>(nullptr, reinterpret_cast<const Word*>(in.data()), from, to, half, times);
  tilewise::sim::set_counting(was);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  const Counters c = tilewise::sim::last_counters(), compiled = tilewise::sim::last_counters_as_compiled();
  CHECK(c.global_store_requests + c.global_load_instructions == 0);
  CHECK(c.shared_load_instructions + c.shared_store_instructions == 0);
  // Nothing is merged, and nothing moved out of the loop.
  CHECK(compiled.async_copy_instructions == c.async_copy_instructions);
  CHECK(compiled.global_load_sectors == c.global_load_sectors);
  CHECK(compiled.async_copy_wavefronts == c.async_copy_wavefronts);
  return c;
}

}  // namespace

TEST_CASE("Asynchronous copies are counted among the loads, as Nsight Compute does", "[async]") {
  Counters c = counts_of<float>(1, 1);
  CHECK(c.async_copy_instructions == 1);
  CHECK(c.global_load_requests == 1);
  CHECK(c.global_load_sectors == 4);
  CHECK(c.global_load_bytes == 128);
  CHECK(c.async_copy_wavefronts == 1);
  CHECK(c.dram_bytes_at_least == 128);
  CHECK(c.partial_instructions == 0);
  c = counts_of<float4>(1, 1, false, 5);
  CHECK(c.async_copy_instructions == 5);
  CHECK(c.global_load_sectors == 5 * 16);
  CHECK(c.global_load_bytes == 5 * 512);
  CHECK(c.distinct_bytes_loaded == 512);
  CHECK(c.distinct_bytes_stored == 0);
  c = counts_of<float2>(1, 1, true);  // half of the lanes, but all of the sectors
  CHECK(c.global_load_sectors == 8);
  CHECK(c.global_load_bytes == 128);
  CHECK(c.partial_instructions == 1);
  CHECK(counts_of<float>(32, 1).global_load_sectors == 32);
  CHECK(counts_of<float>(32, 1).global_load_tag_passes >= 8);
  CHECK(counts_of<float>(0, 1).global_load_sectors == 1);
}

#endif
