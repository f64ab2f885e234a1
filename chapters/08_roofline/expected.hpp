// What the kernels of this chapter must come out with, computed on the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tilewise/compare.hpp"

/// The multiply-adds x -> a x + b of this chapter go round their fixed point b / (1 - a), nearer by
/// |a| each time: never zero, never large. In long chains slowly, so that a GPU works on changing
/// bits until the end (constant ones would save it energy); over the elements of an array faster,
/// so that a step too few shows far above the rounding bound.
constexpr float kChainA = -0.99999f;
constexpr float kElementA = -0.9995f;
constexpr float kB = 0.75f;

/// The same operations on the host: equal to the last bit, since fmaf rounds once, by the standard.
inline float fma_chain(float x, float a, float b, std::uint64_t steps) {
  for (std::uint64_t i = 0; i < steps; ++i) x = std::fmaf(a, x, b);
  return x;
}

/// Where fma_chains() starts: 64 different values, exact in float.
inline float chain_start(std::size_t thread, int chain) {
  return 0.5f + static_cast<float>(thread % 64) / 64 + static_cast<float>(chain);
}

/// x after `steps` exact steps, in closed form: a^n x + b (1 - a^n) / (1 - a). Needs a != 1.
struct ChainEnd {
  ChainEnd(double a, double b, std::uint64_t steps) {
    factor = std::pow(a, static_cast<double>(steps));
    offset = b * (1 - factor) / (1 - a);
    fixed_point = b / (1 - a);
    // An error of one step shrinks by |a| in the next: u (1 + |a| + |a|^2 + ...) times the largest
    // value on the way.
    growth = 0x1p-24 * (std::abs(a) < 1 ? (1 - std::abs(factor)) / (1 - std::abs(a))
                                        : static_cast<double>(steps));
  }
  double of(double x) const { return factor * x + offset; }
  /// The largest error that rounding can make, for |a| <= 1 and a start x; a little more for the
  /// closed form's own.
  double bound(double x) const {
    const double largest = std::abs(fixed_point) + std::abs(x - fixed_point);
    return (growth * 1.001 + 0x1p-44) * largest;
  }

  double factor, offset, fixed_point, growth;
};

/// Compares words exactly; names the first one that differs.
template <class T>
tilewise::Comparison same_words(std::span<const T> got, std::span<const T> expected,
                                const std::string& method) {
  tilewise::Comparison c;
  c.checked = expected.size();
  c.method = method;
  c.wrong = got.size() == expected.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    if (got[i] == expected[i]) continue;  // NaN is unequal to all
    if (c.wrong++ == 0) {
      const auto a = static_cast<double>(got[i]), b = static_cast<double>(expected[i]);
      c.first_wrong = c.worst = {0, i, a, b, std::abs(a - b), 0};
    }
  }
  c.ok = c.wrong == 0;
  return c;
}

/// The ends of all chains of fma_chains(), exactly.
inline tilewise::Comparison check_chains(std::span<const float> out, std::size_t threads,
                                         int chains, std::uint64_t steps) {
  std::vector<float> ends, expected;
  for (int c = 0; c < chains; ++c)
    for (std::size_t t = 0; t < 64; ++t) ends.push_back(chain_start(t, c));
  for (std::uint64_t i = 0; i < steps; ++i)  // all chains in turns: the CPU need not wait either
    for (float& x : ends) x = std::fmaf(kChainA, x, kB);
  expected.reserve(threads * chains);
  for (int c = 0; c < chains; ++c)
    for (std::size_t t = 0; t < threads; ++t) expected.push_back(ends[64 * c + t % 64]);
  return same_words<float>(out, expected, "every chain, to the last bit");
}

/// The results of fma_per_element(), within the rounding bound. On several cores: there may be many
/// millions.
inline tilewise::Comparison check_elements(std::span<const float> in, std::span<const float> out,
                                           unsigned fmas) {
  const ChainEnd end(kElementA, kB, fmas);
  const std::size_t n = in.size();
  const auto right = [&](std::size_t i) {  // NaN: false
    return std::abs(out[i] - end.of(in[i])) <= end.bound(in[i]);
  };
  const std::size_t workers = n < (1 << 20) ? 1 : std::max(1u, std::thread::hardware_concurrency());
  struct alignas(128) Part {
    std::size_t wrong = 0, first = 0;
    double max_error = 0;
  };
  std::vector<Part> parts(workers);
  std::vector<std::thread> threads;
  for (std::size_t w = 0; w < workers; ++w) {
    threads.emplace_back([&, w] {
      Part part;
      for (std::size_t i = n / workers * w, stop = w + 1 == workers ? n : n / workers * (w + 1);
           i < stop; ++i) {
        if (!right(i) && part.wrong++ == 0) part.first = i;
        part.max_error = std::max(part.max_error, std::abs(out[i] - end.of(in[i])));
      }
      parts[w] = part;
    });
  }
  for (std::thread& thread : threads) thread.join();

  tilewise::Comparison c;
  c.checked = n;
  c.method = "every element, against the closed form in FP64";
  c.bound_at_max = end.bound(1);
  for (const Part& part : parts) {
    if (part.wrong > 0 && c.wrong == 0) {
      const std::size_t i = part.first;
      c.first_wrong = c.worst = {
          0, i, out[i], end.of(in[i]), std::abs(out[i] - end.of(in[i])), end.bound(in[i])};
    }
    c.wrong += part.wrong;
    c.max_error = std::max(c.max_error, part.max_error);
  }
  c.ok = c.wrong == 0 && out.size() == n;
  return c;
}

/// The sum of all words, wrapping round.
inline unsigned sum_of(std::span<const unsigned> words) {
  unsigned sum = 0;
  for (const unsigned word : words) sum += word;
  return sum;
}

/// The sums of a kernel's threads must add up to `total`.
inline tilewise::Comparison check_total(std::span<const unsigned> sums, unsigned total) {
  const unsigned got = sum_of(sums);
  return same_words<unsigned>(std::span(&got, 1), std::span(&total, 1),
                              "the sum of all words, exactly");
}

/// What every thread of sum_shared() and sum_l1() must have: `steps` units of 4 words, going round
/// 1,024 of them.
inline tilewise::Comparison check_rounds(std::span<const unsigned> sums,
                                         std::span<const unsigned> in, unsigned threads,
                                         unsigned steps) {
  constexpr std::size_t kUnits = 1024;
  std::vector<unsigned> one_block(threads, 0u), expected;
  for (unsigned t = 0; t < threads; ++t)
    for (std::size_t i = 0; i < steps; ++i)
      one_block[t] += sum_of(in.subspan(4 * ((t + i * threads) % kUnits), 4));
  for (std::size_t i = 0; i < sums.size(); ++i) expected.push_back(one_block[i % threads]);
  return same_words<unsigned>(sums, expected, "every thread's sum, exactly");
}
