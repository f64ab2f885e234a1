// What lesson 08 works on: for each kernel its data, how it is launched, and what must come out.
// Plumbing; the lesson is in roofline.cuh.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ceilings.hpp"
#include "expected.hpp"
#include "ring.hpp"
#include "roofline.cuh"
#include "tilewise/device_buffer.hpp"
#include "tilewise/random.hpp"

using tilewise::DeviceBuffer;

/// Timer rules of a walk: few launches, each of many steps; what it walks through stays in its
/// cache.
inline tilewise::TimerOptions walking() {
  tilewise::TimerOptions rules;
  rules.min_iterations = 5;
  rules.min_seconds = 0.05;
  rules.cache = tilewise::Cache::warm;
  rules.graph_below_us = 0;  // every launch goes on where the last one stopped: they are counted
  return rules;
}

/// Timer rules of a rate. `bytes` of DRAM are read or written; 0: none, and no cache needs to be
/// emptied.
inline tilewise::TimerOptions streaming(double bytes) {
  tilewise::TimerOptions rules;
  rules.min_seconds = 0.06;
  rules.working_set = static_cast<std::size_t>(bytes);
  if (bytes == 0) rules.cache = tilewise::Cache::warm;
  return rules;
}

// ---------------------------------------------------------------- latencies

/// Where the walks ended; wrong, too, if the ring is not one: a walk through a part of it ends
/// where it must all the same.
template <class T>
tilewise::Comparison check_ends(const std::vector<T>& got, const std::vector<T>& expected,
                                const std::vector<std::uint32_t>& ring) {
  tilewise::Comparison c = same_words<T>(got, expected, "where each walk ends");
  if (!is_single_cycle(ring)) c.ok = false, c.failure = "the links are not one ring";
  return c;
}

inline Probe fma_latency_probe(unsigned steps) {
  struct State {
    DeviceBuffer<float> out{32};
    DeviceBuffer<long long> cycles{1};
  };
  auto s = std::make_shared<State>();
  Probe p{"registers: a multiply-add", "fma_latency", "", "register"};
  p.launch = [=](cudaStream_t stream) {
    CUDA_CHECK(launch_fma_latency(32, kChainA, kB, steps, s->out.data(), s->cycles.data(), stream));
  };
  p.poison = [=] { s->out.poison(), s->cycles.poison(); };
  p.check = [=] { return check_chains(s->out.to_host(), 32, 1, steps); };
  p.cycles = [=] { return static_cast<double>(s->cycles.to_host()[0]) / steps; };
  p.steps = steps;
  p.rules = walking();
  return p;
}

/// A walk by byte offsets: shared, constant or local memory. `lanes` threads walk together, all
/// from the same place, or each from a place of its own.
using OffsetChase = cudaError_t (*)(const unsigned*, unsigned, unsigned, unsigned*, unsigned,
                                    long long*, cudaStream_t);

inline Probe offset_chase_probe(const std::string& what, const std::string& kernel,
                                const std::string& key, OffsetChase launch, unsigned words,
                                unsigned lanes, bool spread, unsigned steps, std::uint64_t seed) {
  struct State {
    std::vector<std::uint32_t> ring;
    std::vector<unsigned> starts;
    DeviceBuffer<unsigned> links, place;
    DeviceBuffer<long long> cycles{1};
    std::uint64_t launches = 0;
  };
  auto s = std::make_shared<State>();
  s->ring = sattolo(words, seed);
  for (unsigned lane = 0; lane < lanes; ++lane) s->starts.push_back(spread ? 4 * lane : 0);
  s->links = DeviceBuffer<unsigned>(byte_offsets(s->ring));
  s->place = DeviceBuffer<unsigned>(lanes);
  Probe p{what, kernel, tilewise::bytes_text(4.0 * words), key};
  p.launch = [=](cudaStream_t stream) {
    ++s->launches;
    CUDA_CHECK(
        launch(s->links.data(), words, lanes, s->place.data(), steps, s->cycles.data(), stream));
  };
  p.poison = [=] { s->place.upload(s->starts), s->cycles.poison(), s->launches = 0; };
  p.check = [=] {
    std::vector<unsigned> expected;
    for (const unsigned start : s->starts)
      expected.push_back(4 * walk(s->ring, start / 4, s->launches * steps));
    return check_ends<unsigned>(s->place.to_host(), expected, s->ring);
  };
  p.cycles = [=] { return static_cast<double>(s->cycles.to_host()[0]) / steps; };
  p.steps = steps;
  p.rules = walking();
  return p;
}

/// A walk through `bytes` of global memory, one link in every 128 bytes, which is a line of L1.
/// `warm`: once round before the clock starts, so that all links are in the smallest cache that can
/// hold them.
inline Probe global_chase_probe(const std::string& what, const std::string& key, std::size_t bytes,
                                bool warm, unsigned steps, std::uint64_t seed) {
  constexpr std::size_t kStride = 128 / sizeof(unsigned long long);
  struct State {
    std::vector<std::uint32_t> ring;
    DeviceBuffer<unsigned long long> links, place{1};
    DeviceBuffer<long long> cycles{1};
    std::uint64_t launches = 0;
  };
  auto s = std::make_shared<State>();
  s->ring = sattolo(std::max<std::size_t>(1, bytes / 128), seed);
  s->links = DeviceBuffer<unsigned long long>(s->ring.size() * kStride);
  s->links.upload(addresses(s->ring, kStride, s->links.data()));
  const auto lead = static_cast<unsigned>(warm ? s->ring.size() : 0);
  const auto address = [=](std::uint32_t i) {
    return reinterpret_cast<unsigned long long>(s->links.data() + i * kStride);
  };
  Probe p{what, "chase_global", tilewise::bytes_text(128.0 * static_cast<double>(s->ring.size())),
          key};
  p.launch = [=](cudaStream_t stream) {
    ++s->launches;
    CUDA_CHECK(launch_chase_global(s->place.data(), lead, steps, s->cycles.data(), stream));
  };
  p.poison = [=] { s->place.upload(std::vector{address(0)}), s->cycles.poison(), s->launches = 0; };
  p.check = [=] {
    const std::vector expected = {
        address(walk(s->ring, 0, s->launches * (std::uint64_t{lead} + steps)))};
    return check_ends<unsigned long long>(s->place.to_host(), expected, s->ring);
  };
  p.cycles = [=] { return static_cast<double>(s->cycles.to_host()[0]) / steps; };
  p.steps = steps;
  p.rules = walking();
  return p;
}

// ---------------------------------------------------------------- arithmetic

/// `chains` chains in each of `threads` threads per SM.
template <int CHAINS>
Probe fma_chains_probe(unsigned sms, unsigned threads_per_sm, std::uint64_t fmas_per_sm) {
  const unsigned block = std::min(threads_per_sm, 1024u), blocks = sms * (threads_per_sm / block);
  const std::size_t threads = std::size_t{blocks} * block;
  const auto steps = static_cast<unsigned>(fmas_per_sm / (threads_per_sm * CHAINS));
  auto out = std::make_shared<DeviceBuffer<float>>(threads * CHAINS);
  const std::string warps =
      std::to_string(threads_per_sm / 32) + (threads_per_sm == 32 ? " warp" : " warps") + " per SM";
  Probe p{
      warps + ", " + std::to_string(CHAINS) + (CHAINS == 1 ? " chain" : " chains") + " per thread",
      "fma_chains<" + std::to_string(CHAINS) + ">", "", "fma"};
  p.launch = [=](cudaStream_t stream) {
    CUDA_CHECK(launch_fma_chains<CHAINS>(blocks, block, kChainA, kB, steps, out->data(), stream));
  };
  p.poison = [=] { out->poison(); };
  p.check = [=] { return check_chains(out->to_host(), threads, CHAINS, steps); };
  p.work = 2.0 * static_cast<double>(threads) * CHAINS * steps;
  p.flops = true;
  p.peak = tilewise::device().peak_fp32_gflops();
  p.by_sm_clock = true;
  p.rules = streaming(0);
  return p;
}

// ---------------------------------------------------------------- bandwidth

/// Random words on the device, and what reading them must give.
struct Words {
  Words(std::size_t count, std::uint64_t seed) : original(count), in(count) {
    tilewise::Random random(seed);
    for (unsigned& word : original) word = static_cast<unsigned>(random.bits() >> 32);
    in.upload(original);
    total = sum_of(original);
  }
  double bytes() const { return static_cast<double>(in.bytes()); }
  std::string size() const { return tilewise::bytes_text(bytes()); }

  std::vector<unsigned> original;
  DeviceBuffer<unsigned> in;
  unsigned total = 0;
};
using WordsPtr = std::shared_ptr<Words>;

inline Probe copy_probe(WordsPtr w, bool by_driver) {
  struct State {
    DeviceBuffer<unsigned> out;
    std::vector<unsigned> got;
  };
  auto s = std::make_shared<State>(
      State{DeviceBuffer<unsigned>(w->in.size()), std::vector<unsigned>(w->in.size())});
  Probe p{by_driver ? "DRAM, copy by the driver" : "DRAM, copy",
          by_driver ? "cudaMemcpyAsync" : "copy_words", w->size(), "dram_copy"};
  p.launch = [=](cudaStream_t stream) {
    if (by_driver)
      CUDA_CHECK(cudaMemcpyAsync(s->out.data(), w->in.data(), w->in.bytes(),
                                 cudaMemcpyDeviceToDevice, stream));
    else
      CUDA_CHECK(launch_copy_words(w->in.data(), s->out.data(), w->in.size(), stream));
  };
  p.poison = [=] { s->out.poison(); };
  p.check = [=] {
    s->out.download(s->got);
    return same_words<unsigned>(s->got, w->original, "every word, exactly");
  };
  p.work = 2 * w->bytes();  // read and written
  p.peak = tilewise::device().peak_bandwidth_gbs();
  p.rules = streaming(p.work);
  return p;
}

/// `blocks_per_sm` blocks of 256 threads on each SM.
template <int LOADS>
Probe sum_probe(WordsPtr w, unsigned sms, unsigned blocks_per_sm) {
  const unsigned blocks = sms * blocks_per_sm;
  auto out = std::make_shared<DeviceBuffer<unsigned>>(std::size_t{blocks} * 256);
  Probe p{"DRAM, read: " + std::to_string(8 * blocks_per_sm) + " warps, " + std::to_string(LOADS) +
              (LOADS == 1 ? " load" : " loads"),
          "sum_words<" + std::to_string(LOADS) + ">", w->size(), "dram_read"};
  p.launch = [=](cudaStream_t stream) {
    CUDA_CHECK(
        launch_sum_words<LOADS>(blocks, 256, w->in.data(), w->in.size(), out->data(), stream));
  };
  p.poison = [=] { out->poison(); };
  p.check = [=] { return check_total(out->to_host(), w->total); };
  p.work = w->bytes();
  p.peak = tilewise::device().peak_bandwidth_gbs();
  p.rules = streaming(p.work);
  return p;
}

inline Probe sum_l2_probe(WordsPtr w, unsigned sms, unsigned passes) {
  auto out = std::make_shared<DeviceBuffer<unsigned>>(std::size_t{sms} * 1024);
  Probe p{"L2, read", "sum_l2", w->size(), "l2_read"};
  p.launch = [=](cudaStream_t stream) {
    CUDA_CHECK(
        launch_sum_l2(2 * sms, 512, w->in.data(), w->in.size(), passes, out->data(), stream));
  };
  p.poison = [=] { out->poison(); };
  p.check = [=] { return check_total(out->to_host(), w->total * passes); };
  p.work = w->bytes() * passes;
  p.by_sm_clock = true;
  // what the SMs can take in; for L2 itself no figure is published
  p.peak = tilewise::device().peak_shared_gbs();
  p.show_share = false;
  p.rules = streaming(0);
  return p;
}

using RoundLaunch = cudaError_t (*)(unsigned, unsigned, const unsigned*, unsigned, unsigned*,
                                    cudaStream_t);

/// Shared memory or L1: 16 KB, read again and again by each block.
inline Probe rounds_probe(const std::string& what, const std::string& kernel,
                          const std::string& key, RoundLaunch launch, WordsPtr w, unsigned sms,
                          unsigned steps) {
  const unsigned blocks = 2 * sms, threads = tilewise::is_simulated() ? 64 : 512;
  auto out = std::make_shared<DeviceBuffer<unsigned>>(std::size_t{blocks} * threads);
  Probe p{what, kernel, tilewise::bytes_text(16.0 * kSharedUnits), key};
  p.launch = [=](cudaStream_t stream) {
    CUDA_CHECK(launch(blocks, threads, w->in.data(), steps, out->data(), stream));
  };
  p.poison = [=] { out->poison(); };
  p.check = [=] { return check_rounds(out->to_host(), w->original, threads, steps); };
  p.work = 16.0 * blocks * threads * steps;
  p.peak = tilewise::device().peak_shared_gbs();
  p.by_sm_clock = true;
  p.rules = streaming(0);
  return p;
}

// ---------------------------------------------------------------- loads against arithmetic

/// Random floats on the device: two inputs and room for a result.
struct Vectors {
  Vectors(std::size_t n, std::uint64_t seed, tilewise::Distribution data)
      : a(tilewise::random_vector(n, 2 * seed, data)),
        b(tilewise::random_vector(n, 2 * seed + 1, data)),
        got(n),
        in_a(a),
        in_b(b),
        out(n) {}

  tilewise::Comparison check_sum(std::size_t first, std::size_t count) {
    out.download(got);
    std::vector<float> expected;
    expected.reserve(count);
    // one rounding on both sides
    for (std::size_t i = first; i < first + count; ++i) expected.push_back(a[i] + b[i]);
    return same_words<float>(std::span(got).subspan(first, count), expected,
                             "every sum, to the last bit");
  }

  std::vector<float> a, b, got;
  DeviceBuffer<float> in_a, in_b, out;
};
using VectorsPtr = std::shared_ptr<Vectors>;

inline Probe vector_add_probe(VectorsPtr v) {
  const std::size_t n = v->a.size();
  Probe p{"all of them", "vector_add", tilewise::bytes_text(4.0 * static_cast<double>(n)),
          "vector_add"};
  p.launch = [=](cudaStream_t stream) {
    CUDA_CHECK(launch_vector_add(v->in_a.data(), v->in_b.data(), v->out.data(), n, stream));
  };
  p.poison = [=] { v->out.poison(); };
  p.check = [=] { return v->check_sum(0, n); };
  p.work = 12.0 * static_cast<double>(n);
  p.peak = tilewise::device().peak_bandwidth_gbs();
  p.rules = streaming(p.work);
  return p;
}

/// One warp at a time, each launch at another place, where no launch has been for as long as L2
/// remembers.
inline Probe vector_add_clocked_probe(VectorsPtr v) {
  struct State {
    DeviceBuffer<long long> cycles{1};
    std::vector<double> seen;
    std::size_t launches = 0;
  };
  auto s = std::make_shared<State>();
  const std::size_t places = std::max<std::size_t>(1, v->a.size() / 2 / 4096);
  const auto first = [=](std::size_t launch) { return launch % places * 4096; };
  Probe p{"one warp alone: loads and addition", "vector_add_clocked", "384 B", "vector_add_alone"};
  p.launch = [=](cudaStream_t stream) {
    CUDA_CHECK(launch_vector_add_clocked(v->in_a.data(), v->in_b.data(), v->out.data(),
                                         first(s->launches++), s->cycles.data(), stream));
    if (!tilewise::is_simulated()) {
      CUDA_CHECK(cudaStreamSynchronize(stream));
      s->seen.push_back(static_cast<double>(s->cycles.to_host()[0]));
    }
  };
  p.poison = [=] { v->out.poison(), s->launches = 0, s->seen.clear(); };
  p.check = [=] { return v->check_sum(first(s->launches - 1), 32); };
  p.cycles = [=] { return tilewise::statistics(s->seen).median; };
  p.steps = 1;
  p.rules = walking();
  p.rules.min_seconds = 0;
  p.rules.min_iterations = 30;
  return p;
}

/// Reads a float, does `fmas` multiply-adds on it, writes it.
inline Probe fma_per_element_probe(VectorsPtr v, unsigned fmas) {
  const std::size_t n = v->a.size();
  const tilewise::Device& d = tilewise::device();
  Probe p{std::to_string(fmas) + (fmas == 1 ? " multiply-add" : " multiply-adds") + " per element",
          "fma_per_element", tilewise::bytes_text(4.0 * static_cast<double>(n)), "roofline"};
  p.launch = [=](cudaStream_t stream) {
    CUDA_CHECK(
        launch_fma_per_element(v->in_a.data(), v->out.data(), n, fmas, kElementA, kB, stream));
  };
  p.poison = [=] { v->out.poison(); };
  p.check = [=] {
    v->out.download(v->got);
    return check_elements(v->a, v->got, fmas);
  };
  p.work = 2.0 * fmas * static_cast<double>(n);
  p.flops = true;
  p.intensity = 2.0 * fmas / 8.0;
  p.peak = std::min(d.peak_fp32_gflops(), p.intensity * d.peak_bandwidth_gbs());
  p.by_sm_clock = p.peak == d.peak_fp32_gflops();
  p.rules = streaming(8.0 * static_cast<double>(n));
  return p;
}

// ---------------------------------------------------------------- what it comes to

/// The measured ceilings in sentences. Says nothing on the simulator.
inline void conclude(const Ceilings& c) {
  if (tilewise::is_simulated()) return;
  const double fma = c.best("fma"), copy = c.best("dram_copy");
  if (fma == 0 || copy == 0) return;
  using tilewise::fixed, tilewise::significant;
  std::printf(
      "\nAt best, measured: %s GFLOP/s; %s GB/s copied, %s read from DRAM, %s from L2, %s from "
      "shared memory.\n",
      significant(fma).c_str(), significant(copy).c_str(), significant(c.best("dram_read")).c_str(),
      significant(c.best("l2_read")).c_str(), significant(c.best("shared_read")).c_str());
  std::printf(
      "Balance: %s FLOP per byte of DRAM. A float that is read and written once must take part in "
      "%s multiply-adds\n"
      "before arithmetic is what it waits for.\n",
      fixed(fma / copy, 1).c_str(), fixed(fma / copy * 8 / 2, 0).c_str());
  if (c.best("vector_add_alone") > 0 && c.best("register") > 0)
    std::printf("Vector add: a warp alone takes %s cycles, %s of them for the addition.\n",
                fixed(c.best("vector_add_alone"), 0).c_str(), fixed(c.best("register"), 0).c_str());
}
