// cuRAND's generators whose algorithms are public, and how their words become numbers; for curand_kernel.h and curand.h.
// XORWOW: Marsaglia, "Xorshift RNGs", 2003. Philox4x32-10: Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011.
// How seeds become states, and which words a number is made of, was found by comparing with what cuRAND gives
// (tests/simulator/random/).
#pragma once

#include <cmath>
#include <cstdint>

namespace tilewise::sim::random {

/// The state's five words after `n` << `shift` more steps, shift 0 or 67. Compiled once, in runtime/random.cpp.
void skip_xorwow(std::uint32_t words[5], std::uint64_t n, int shift);

struct Xorwow {
  std::uint32_t d, v[5];

  static constexpr std::uint32_t kWeyl = 362437;  ///< what d grows by in each step

  /// `subsequence` times 2^67 steps, and `offset` more, past the seed's first state.
  static Xorwow start(std::uint64_t seed, std::uint64_t subsequence, std::uint64_t offset) {
    const std::uint32_t low = 1099087573u * (std::uint32_t(seed) ^ 0xaad26b49u);
    const std::uint32_t high = 2591861531u * (std::uint32_t(seed >> 32) ^ 0xf7dcefddu);
    Xorwow x{6615241u + high + low,
             {123456789u + low, 362436069u ^ low, 521288629u + high, 88675123u ^ high, 5783321u + low}};
    x.skip_subsequences(subsequence);
    x.skip(offset);
    return x;
  }
  void skip(std::uint64_t n) {
    if (n == 0) return;
    skip_xorwow(v, n, 0);
    d += kWeyl * std::uint32_t(n);
  }
  void skip_subsequences(std::uint64_t n) {
    if (n != 0) skip_xorwow(v, n, 67);  // 2^67 steps leave d as it is
  }
  std::uint32_t next() {
    const std::uint32_t t = v[0] ^ (v[0] >> 2);
    v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
    v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
    d += kWeyl;
    return v[4] + d;
  }
};

struct Words {
  std::uint32_t x, y, z, w;
};

/// Ten rounds.
inline Words philox(Words counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t(0xd2511f53u) * counter.x, b = std::uint64_t(0xcd9e8d57u) * counter.z;
    counter = {std::uint32_t(b >> 32) ^ counter.y ^ key0, std::uint32_t(b), std::uint32_t(a >> 32) ^ counter.w ^ key1,
               std::uint32_t(a)};
    key0 += 0x9e3779b9u, key1 += 0xbb67ae85u;
  }
  return counter;
}

/// Above 0, at most 1.
inline float uniform(std::uint32_t word) { return float(word) * 0x1p-32f + 0x1p-33f; }
/// The same, of 53 bits of two words.
inline double uniform(std::uint32_t first, std::uint32_t second) {
  return double(first ^ (std::uint64_t(second) << 21)) * 0x1p-53 + 0x1p-54;
}

template <class T>
struct Pair {
  T first, second;
};

/// Two normally distributed numbers, by the method of Box and Muller.
inline Pair<float> normal(std::uint32_t first, std::uint32_t second) {
  constexpr float kTwoPi = 6.2831855f;
  const float u = uniform(first), angle = float(second) * (0x1p-32f * kTwoPi) + 0x1p-33f * kTwoPi;
  const float radius = ::sqrtf(-2.0f * ::logf(u));
  return {radius * ::sinf(angle), radius * ::cosf(angle)};
}
inline Pair<double> normal(std::uint32_t first, std::uint32_t second, std::uint32_t third, std::uint32_t fourth) {
  constexpr double kPi = 3.141592653589793;
  const double u = uniform(first, second), angle = 2 * uniform(third, fourth) * kPi;
  const double radius = ::sqrt(-2.0 * ::log(u));
  return {radius * ::sin(angle), radius * ::cos(angle)};
}

}  // namespace tilewise::sim::random
