// Rings to walk through: random permutations that are one single cycle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "tilewise/random.hpp"

// [sattolo]
/// next[i] is where to go from i. Sattolo (1986): like a shuffle, but an element is never left in
/// its place, and the permutation is a single cycle, each with the same probability. An ordinary
/// shuffle is one only in 1 of n cases; from most places the walk would then go round in a part of
/// the memory, which may fit in a faster cache.
inline std::vector<std::uint32_t> sattolo(std::size_t n, std::uint64_t seed) {
  std::vector<std::uint32_t> next(n);
  std::iota(next.begin(), next.end(), 0u);
  tilewise::Random random(seed);
  // i changes places with an element below it, never with itself
  for (std::size_t i = n; i-- > 1;) std::swap(next[i], next[random.below(i)]);
  return next;
}
// [sattolo]

/// True if from any place one comes through all the others and back. False for links that lead
/// outside.
inline bool is_single_cycle(std::span<const std::uint32_t> next) {
  if (next.empty()) return false;
  std::size_t at = 0;
  for (std::size_t steps = 1; steps <= next.size(); ++steps) {
    if (next[at] >= next.size()) return false;
    at = next[at];
    if (at == 0) return steps == next.size();
  }
  return false;
}

/// Where a walk of `steps` steps from `start` ends. `next` must be a single cycle.
inline std::uint32_t walk(std::span<const std::uint32_t> next, std::uint32_t start,
                          std::uint64_t steps) {
  std::uint32_t at = start;
  for (std::uint64_t left = steps % next.size(); left > 0; --left) at = next[at];
  return at;
}

/// The ring as byte offsets of words: what chase_shared(), chase_constant() and chase_local() want.
inline std::vector<unsigned> byte_offsets(std::span<const std::uint32_t> next) {
  std::vector<unsigned> offsets;
  for (const std::uint32_t i : next) offsets.push_back(i * sizeof(unsigned));
  return offsets;
}

/// The ring as addresses, what chase_global() wants: link i in word i * stride of memory that
/// begins at `base`.
inline std::vector<unsigned long long> addresses(std::span<const std::uint32_t> next,
                                                 std::size_t stride,
                                                 const unsigned long long* base) {
  std::vector<unsigned long long> memory(next.size() * stride);
  for (std::size_t i = 0; i < next.size(); ++i)
    memory[i * stride] = reinterpret_cast<unsigned long long>(base + next[i] * stride);
  return memory;
}
