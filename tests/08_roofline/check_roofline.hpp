// Is a kernel of chapter 08 right? One function for each kind; the right kernels must pass it, the wrong ones must
// fail.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "expected.hpp"
#include "guarded_memory.hpp"
#include "ring.hpp"
#include "tilewise/counters.hpp"
#include "tilewise/device.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/random.hpp"

/// An array between margins that must not change.
template <class T>
class Guarded {
 public:
  static constexpr std::size_t kMargin = 2048;

  explicit Guarded(const std::vector<T>& values)
      : host_(values.size() + 2 * kMargin, pattern()), device_(host_.size()) {
    std::copy(values.begin(), values.end(), host_.begin() + kMargin);
    device_.upload(host_);
  }
  T* data() { return device_.data() + kMargin; }
  std::vector<T> values() const {
    const std::vector<T> all = device_.to_host();
    return {all.begin() + kMargin, all.end() - kMargin};
  }
  bool margins_intact() const {
    const std::vector<T> all = device_.to_host();
    return std::memcmp(all.data(), host_.data(), kMargin * sizeof(T)) == 0 &&
           std::memcmp(&all[all.size() - kMargin], &host_[host_.size() - kMargin], kMargin * sizeof(T)) == 0;
  }
  bool intact() const {
    const std::vector<T> all = device_.to_host();
    return std::memcmp(all.data(), host_.data(), device_.bytes()) == 0;
  }

 private:
  static T pattern() {
    T value;
    std::memset(&value, 0x5A, sizeof(value));
    return value;
  }
  std::vector<T> host_;
  tilewise::DeviceBuffer<T> device_;
};

/// `size` elements of which each is all ones in bits: NaN, or -1.
template <class T>
std::vector<T> poisoned(std::size_t size) {
  std::vector<T> values(size);
  std::memset(values.data(), 0xFF, size * sizeof(T));
  return values;
}

inline std::vector<unsigned> random_words(std::size_t size, std::uint64_t seed) {
  tilewise::Random random(seed);
  std::vector<unsigned> words(size);
  for (unsigned& word : words) word = static_cast<unsigned>(random.bits() >> 32);
  return words;
}

/// Runs and waits; false when that failed. On the simulator `counts` has what was counted.
inline bool ran(Verdict& verdict, const std::function<cudaError_t()>& launch,
                std::optional<tilewise::Counts>* counts = nullptr) {
  cudaError_t status = cudaSuccess;
  const auto counted = tilewise::count([&] { status = launch(); });
  if (counts) *counts = counted;
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status == cudaSuccess) return true;
  cudaGetLastError();
  verdict.add(Fault::launch_failed, cudaGetErrorString(status));
  return false;
}

inline void judge(Verdict& verdict, const tilewise::Comparison& comparison) {
  verdict.comparison = comparison;
  if (!comparison.ok) verdict.add(Fault::wrong_value, comparison.text());
}

template <class T>
void judge_margins(Verdict& verdict, const Guarded<T>& out) {
  if (!out.margins_intact()) verdict.add(Fault::outside_written, "memory around the output was written");
}

template <class T>
void judge_input(Verdict& verdict, const Guarded<T>& in) {
  if (!in.intact()) verdict.add(Fault::input_changed, "the input was changed");
}

inline void judge_cycles(Verdict& verdict, const Guarded<long long>& cycles) {
  if (cycles.values()[0] <= 0)
    verdict.add(Fault::wrong_value, std::to_string(cycles.values()[0]) + " cycles are no length of time");
  judge_margins(verdict, cycles);
}

inline void judge_findings(Verdict& verdict, NewFindings& findings) {
  if (const std::string text = findings.take(); !text.empty()) verdict.add(Fault::finding, text);
}

// ---------------------------------------------------------------- rings and walks

using Permutation = std::function<std::vector<std::uint32_t>(std::size_t, std::uint64_t)>;

/// A permutation to walk through: it must be one cycle.
inline Verdict check_permutation(const Permutation& make, std::size_t n, std::uint64_t seed) {
  Verdict verdict;
  const std::vector<std::uint32_t> next = make(n, seed);
  if (next.size() != n) verdict.add(Fault::wrong_value, "has " + std::to_string(next.size()) + " elements");
  if (!is_single_cycle(next)) verdict.add(Fault::wrong_value, "is not a single cycle");
  return verdict;
}

struct WalkShape {
  unsigned words = 1, lanes = 1, steps = 0;
  bool spread = false;  ///< every lane at a place of its own
};

inline std::string text_of(const WalkShape& s) {
  return std::to_string(s.words) + " links, " + std::to_string(s.lanes) + " lanes, " + std::to_string(s.steps) +
         " steps" + (s.spread ? ", spread" : "");
}

/// ring, words, lanes, place, steps, cycles
using OffsetWalk = std::function<cudaError_t(const unsigned*, unsigned, unsigned, unsigned*, unsigned, long long*)>;

/// Walks twice: the second time on from where the first has come to.
inline Verdict check_offset_walk(const OffsetWalk& launch, const WalkShape& shape, std::uint64_t seed) {
  Verdict verdict;
  NewFindings findings;
  const std::vector<std::uint32_t> ring = sattolo(shape.words, seed);
  std::vector<unsigned> starts;
  for (unsigned lane = 0; lane < shape.lanes; ++lane) starts.push_back(shape.spread ? 4 * (lane % shape.words) : 0);
  Guarded<unsigned> links(byte_offsets(ring)), place(starts);
  Guarded<long long> cycles(poisoned<long long>(1));
  for (std::uint64_t walks = 1; walks <= 2 && verdict.right(); ++walks) {
    const bool ok = ran(verdict, [&] {
      return launch(links.data(), shape.words, shape.lanes, place.data(), shape.steps, cycles.data());
    });
    if (!ok) break;
    std::vector<unsigned> ends;
    for (const unsigned start : starts) ends.push_back(4 * walk(ring, start / 4, walks * shape.steps));
    judge(verdict, same_words<unsigned>(place.values(), ends, "ends"));
    judge_margins(verdict, place);
    judge_input(verdict, links);
    judge_cycles(verdict, cycles);
  }
  judge_findings(verdict, findings);
  return verdict;
}

/// place, lead, steps, cycles
using GlobalWalk = std::function<cudaError_t(unsigned long long*, unsigned, unsigned, long long*)>;

inline Verdict check_global_walk(const GlobalWalk& launch, std::size_t links, std::size_t stride, unsigned lead,
                                 unsigned steps, std::uint64_t seed) {
  Verdict verdict;
  NewFindings findings;
  const std::vector<std::uint32_t> ring = sattolo(links, seed);
  tilewise::DeviceBuffer<unsigned long long> memory(links * stride);
  const std::vector<unsigned long long> original = addresses(ring, stride, memory.data());
  memory.upload(original);
  const auto address = [&](std::uint32_t i) {
    return reinterpret_cast<unsigned long long>(memory.data() + i * stride);
  };
  const auto start = static_cast<std::uint32_t>(links / 2);
  Guarded<unsigned long long> place(std::vector<unsigned long long>{address(start)});
  Guarded<long long> cycles(poisoned<long long>(1));
  for (std::uint64_t walks = 1; walks <= 2 && verdict.right(); ++walks) {
    if (!ran(verdict, [&] { return launch(place.data(), lead, steps, cycles.data()); })) break;
    const std::vector end = {address(walk(ring, start, walks * (std::uint64_t{lead} + steps)))};
    judge(verdict, same_words<unsigned long long>(place.values(), end, "end"));
    judge_margins(verdict, place);
    judge_cycles(verdict, cycles);
    if (memory.to_host() != original) verdict.add(Fault::input_changed, "the ring was changed");
  }
  judge_findings(verdict, findings);
  return verdict;
}

// ---------------------------------------------------------------- multiply-adds

/// lanes, a, b, steps, out, cycles
using LatencyLaunch = std::function<cudaError_t(unsigned, float, float, unsigned, float*, long long*)>;

inline Verdict check_fma_latency(const LatencyLaunch& launch, unsigned lanes, unsigned steps) {
  Verdict verdict;
  NewFindings findings;
  Guarded<float> out(poisoned<float>(lanes));
  Guarded<long long> cycles(poisoned<long long>(1));
  if (ran(verdict, [&] { return launch(lanes, kChainA, kB, steps, out.data(), cycles.data()); })) {
    judge(verdict, check_chains(out.values(), lanes, 1, steps));
    judge_margins(verdict, out);
    judge_cycles(verdict, cycles);
  }
  judge_findings(verdict, findings);
  return verdict;
}

struct ChainShape {
  unsigned blocks = 1, threads = 1, steps = 0;
};

inline std::string text_of(const ChainShape& s) {
  return std::to_string(s.blocks) + " blocks of " + std::to_string(s.threads) + ", " + std::to_string(s.steps) +
         " steps";
}

/// blocks, threads, a, b, steps, out
using ChainLaunch = std::function<cudaError_t(unsigned, unsigned, float, float, unsigned, float*)>;

inline Verdict check_fma_chains(const ChainLaunch& launch, int chains, const ChainShape& shape) {
  Verdict verdict;
  NewFindings findings;
  const std::size_t threads = std::size_t{shape.blocks} * shape.threads;
  Guarded<float> out(poisoned<float>(threads * chains));
  if (ran(verdict, [&] { return launch(shape.blocks, shape.threads, kChainA, kB, shape.steps, out.data()); })) {
    judge(verdict, check_chains(out.values(), threads, chains, shape.steps));
    judge_margins(verdict, out);
  }
  judge_findings(verdict, findings);
  return verdict;
}

// ---------------------------------------------------------------- sums

struct SumShape {
  unsigned blocks = 1, threads = 1;
  std::size_t words = 0;
};

inline std::string text_of(const SumShape& s) {
  return std::to_string(s.blocks) + " blocks of " + std::to_string(s.threads) + ", " + std::to_string(s.words) +
         " words";
}

/// blocks, threads, in, words, out
using SumLaunch = std::function<cudaError_t(unsigned, unsigned, const unsigned*, std::size_t, unsigned*)>;

/// `passes`: how often the kernel is to read all words. A right sum can be had without reading that often, so on the
/// simulator the bytes are counted as well; on a GPU such a kernel gives itself away by an impossible figure.
inline Verdict check_sum(const SumLaunch& launch, const SumShape& shape, std::uint64_t seed, unsigned passes = 1) {
  Verdict verdict;
  NewFindings findings;
  const std::vector<unsigned> words = random_words(shape.words, seed);
  {
    Guarded<unsigned> in(words), out(poisoned<unsigned>(std::size_t{shape.blocks} * shape.threads));
    std::optional<tilewise::Counts> counts;
    if (ran(
            verdict, [&] { return launch(shape.blocks, shape.threads, in.data(), shape.words, out.data()); },
            &counts)) {
      judge(verdict, check_total(out.values(), sum_of(words) * passes));
      judge_margins(verdict, out);
      judge_input(verdict, in);
      const std::size_t wanted = 4 * shape.words * passes;
      if (counts && counts->global_load_bytes != wanted)
        verdict.add(Fault::wrong_value, "read " + std::to_string(counts->global_load_bytes) + " bytes instead of " +
                                            std::to_string(wanted));
    }
    judge_findings(verdict, findings);
  }
  if (tilewise::is_simulated() && verdict.right()) {  // once more on words that end where their allocation ends
    {
      const tilewise::DeviceBuffer<unsigned> in(words);
      tilewise::DeviceBuffer<unsigned> out(std::size_t{shape.blocks} * shape.threads);
      ran(verdict, [&] { return launch(shape.blocks, shape.threads, in.data(), shape.words, out.data()); });
      judge_findings(verdict, findings);
    }
    if (verdict.has(Fault::launch_failed)) cudaDeviceReset();  // an access out of bounds is the end of a context
  }
  return verdict;
}

/// blocks, threads, in, steps, out
using RoundsLaunch = std::function<cudaError_t(unsigned, unsigned, const unsigned*, unsigned, unsigned*)>;

inline Verdict check_rounds_of(const RoundsLaunch& launch, const ChainShape& shape, std::uint64_t seed) {
  Verdict verdict;
  NewFindings findings;
  const std::vector<unsigned> words = random_words(4096, seed);
  Guarded<unsigned> in(words), out(poisoned<unsigned>(std::size_t{shape.blocks} * shape.threads));
  if (ran(verdict, [&] { return launch(shape.blocks, shape.threads, in.data(), shape.steps, out.data()); })) {
    judge(verdict, check_rounds(out.values(), words, shape.threads, shape.steps));
    judge_margins(verdict, out);
    judge_input(verdict, in);
  }
  judge_findings(verdict, findings);
  return verdict;
}

// ---------------------------------------------------------------- arrays to arrays

/// in, out, words
using CopyLaunch = std::function<cudaError_t(const unsigned*, unsigned*, std::size_t)>;

inline Verdict check_copy(const CopyLaunch& launch, std::size_t words, std::uint64_t seed) {
  Verdict verdict;
  NewFindings findings;
  const std::vector<unsigned> original = random_words(words, seed);
  Guarded<unsigned> in(original), out(poisoned<unsigned>(words));
  if (ran(verdict, [&] { return launch(in.data(), out.data(), words); })) {
    judge(verdict, same_words<unsigned>(out.values(), original, "words"));
    judge_margins(verdict, out);
    judge_input(verdict, in);
  }
  judge_findings(verdict, findings);
  return verdict;
}

/// a, b, c, n
using AddLaunch = std::function<cudaError_t(const float*, const float*, float*, std::size_t)>;

inline Verdict check_vector_add(const AddLaunch& launch, std::size_t n, std::uint64_t seed,
                                tilewise::Distribution distribution = tilewise::Distribution::uniform) {
  Verdict verdict;
  NewFindings findings;
  const std::vector<float> x = tilewise::random_vector(n, 2 * seed, distribution);
  const std::vector<float> y = tilewise::random_vector(n, 2 * seed + 1, distribution);
  std::vector<float> sum(n);
  for (std::size_t i = 0; i < n; ++i) sum[i] = x[i] + y[i];
  Guarded<float> a(x), b(y), c(poisoned<float>(n));
  if (ran(verdict, [&] { return launch(a.data(), b.data(), c.data(), n); })) {
    judge(verdict, same_words<float>(c.values(), sum, "sums"));
    judge_margins(verdict, c);
    judge_input(verdict, a);
    judge_input(verdict, b);
  }
  judge_findings(verdict, findings);
  return verdict;
}

/// in, out, n, fmas
using ElementLaunch = std::function<cudaError_t(const float*, float*, std::size_t, unsigned)>;

inline Verdict check_per_element(const ElementLaunch& launch, std::size_t n, unsigned fmas, std::uint64_t seed,
                                 tilewise::Distribution distribution = tilewise::Distribution::uniform) {
  Verdict verdict;
  NewFindings findings;
  const std::vector<float> x = tilewise::random_vector(n, seed, distribution);
  Guarded<float> in(x), out(poisoned<float>(n));
  if (ran(verdict, [&] { return launch(in.data(), out.data(), n, fmas); })) {
    judge(verdict, check_elements(x, out.values(), fmas));
    judge_margins(verdict, out);
    judge_input(verdict, in);
  }
  judge_findings(verdict, findings);
  return verdict;
}

// ---------------------------------------------------------------- the five memories

/// weights (host), in, out, n, threads per block
using MemoriesLaunch = std::function<cudaError_t(const float*, const float*, float*, std::size_t, unsigned)>;

inline Verdict check_five_memories(const MemoriesLaunch& launch, std::size_t n, unsigned threads, std::uint64_t seed) {
  Verdict verdict;
  NewFindings findings;
  const std::vector<float> w = tilewise::random_vector(32, seed + 1000), x = tilewise::random_vector(n, seed);
  std::vector<double> expected, bounds;
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0, magnitude = 0;
    for (std::size_t k = 0; k < 32; ++k) {
      const std::size_t j = i / threads * threads + (i % threads + k) % threads;
      const double product = j < n ? static_cast<double>(w[k]) * x[j] : 0;
      sum += product;
      magnitude += std::abs(product);
    }
    expected.push_back(sum);
    bounds.push_back(tilewise::error_bound(32, magnitude));
  }
  Guarded<float> in(x), out(poisoned<float>(n));
  if (ran(verdict, [&] { return launch(w.data(), in.data(), out.data(), n, threads); })) {
    judge(verdict, tilewise::compare(out.values(), expected, bounds, 1, n));
    judge_margins(verdict, out);
    judge_input(verdict, in);
  }
  judge_findings(verdict, findings);
  return verdict;
}
