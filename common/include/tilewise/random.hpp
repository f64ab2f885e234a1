/// @file
/// Random inputs that are the same bits on every platform, compiler and standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise {

/// SplitMix64 (Steele, Lea, Flood 2014): 64 well-mixed bits for every value of a counter.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// The generator with this seed after `index` numbers: any place of the sequence at once.
  static Random at(std::uint64_t seed, std::uint64_t index) { return Random(seed + index * kStep); }

  std::uint64_t bits() {
    std::uint64_t z = (state_ += kStep);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  /// Uniform in [-1, 1): 24 bits of the counter, so every value is exact in float.
  float uniform() { return static_cast<float>(static_cast<std::int64_t>(bits() >> 40) - (1 << 23)) * 0x1p-23f; }

  /// Uniform integer in [0, limit); limit >= 1. The bias is below limit / 2^64.
  std::uint64_t below(std::uint64_t limit) { return bits() % limit; }

 private:
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15u;
  std::uint64_t state_;
};

/// How the values of an input are spread.
enum class Distribution {
  uniform,  ///< [-1, 1)
  wide,     ///< random sign and mantissa, exponents -20..20: small terms vanish beside large ones
  cancel,   ///< neighbours of opposite sign that differ in the last bits: sums are far smaller than their terms
  integers  ///< -4..4 without 0: sums of products are exact in FP32, see ExactMatmulCheck
};

/// "uniform", "wide", "cancel" or "integers". Throws std::invalid_argument otherwise.
Distribution distribution_from(std::string_view name);
std::string to_string(Distribution distribution);
/// The names that distribution_from knows.
std::vector<std::string> distribution_names();

/// `size` floats. Different seeds give unrelated vectors.
std::vector<float> random_vector(std::size_t size, std::uint64_t seed,
                                 Distribution distribution = Distribution::uniform);

}  // namespace tilewise
