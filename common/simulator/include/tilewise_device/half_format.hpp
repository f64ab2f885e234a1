// The two 16-bit floating-point formats: rounding to them, in any direction, and reading them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tilewise_sim/device.hpp"

namespace tilewise::sim::half_detail {

enum class Rounding { nearest, zero, up, down };

// A format of 1 sign bit, `exponent_bits` and `fraction_bits`, 16 in all, with IEEE's subnormals, infinities and NaNs.
template <int exponent_bits, int fraction_bits>
struct Format {
  static constexpr int kSmallestExponent = 2 - (1 << (exponent_bits - 1));  // of a normal number: -14 for half
  static constexpr unsigned kInfinity = ((1u << exponent_bits) - 1u) << fraction_bits;

  // Rounds once, from the exact value of a double. NaN becomes CUDA's canonical NaN.
  static std::uint16_t encode(double value, Rounding rounding = Rounding::nearest) {
    own_arithmetic(true);
    return rounded(value, rounding);
  }
  static float decode(std::uint16_t bits) {
    own_arithmetic(true);
    return value_of(bits);
  }

  // The same for the simulator itself, whose arithmetic is not the kernel's.
  static std::uint16_t rounded(double value, Rounding rounding = Rounding::nearest) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
    const unsigned sign = unsigned(bits >> 63) << 15;
    if (std::isnan(value)) return 0x7fff;
    if (std::isinf(value)) return std::uint16_t(sign | kInfinity);
    if (value == 0.0) return std::uint16_t(sign);

    const int raw = int(bits >> 52 & 0x7ff);
    std::uint64_t significand = bits & ((std::uint64_t(1) << 52) - 1);
    if (raw != 0) significand |= std::uint64_t(1) << 52;
    const int exponent = (raw == 0 ? 1 : raw) - 1023;  // value = significand * 2^(exponent - 52)

    // Bits below the last place of the result; subnormal results keep fewer.
    int dropped = 52 - fraction_bits;
    if (exponent < kSmallestExponent) dropped += kSmallestExponent - exponent;
    if (dropped > 60) dropped = 60;  // the significand has 53 bits: all of it is remainder
    const std::uint64_t remainder = significand & ((std::uint64_t(1) << dropped) - 1);
    const std::uint64_t half = std::uint64_t(1) << (dropped - 1);
    std::uint64_t kept = significand >> dropped;  // the leading 1 carries into the exponent below
    if (exponent > kSmallestExponent) kept += std::uint64_t(exponent - kSmallestExponent) << fraction_bits;

    switch (rounding) {
      case Rounding::nearest:
        kept += remainder > half || (remainder == half && (kept & 1));
        break;
      case Rounding::zero:
        break;
      case Rounding::up:
        kept += remainder != 0 && sign == 0;
        break;
      case Rounding::down:
        kept += remainder != 0 && sign != 0;
        break;
    }
    if (kept >= kInfinity) {
      const bool to_infinity = rounding == Rounding::nearest || (rounding == Rounding::up && sign == 0) ||
                               (rounding == Rounding::down && sign != 0);
      kept = to_infinity ? kInfinity : kInfinity - 1;
    }
    return std::uint16_t(sign | unsigned(kept));
  }

  static float value_of(std::uint16_t bits) {
    const std::uint32_t sign = std::uint32_t(bits & 0x8000u) << 16;
    const std::uint32_t size = bits & 0x7fffu;
    if constexpr (exponent_bits == 8) {
      return std::bit_cast<float>(std::uint32_t(bits) << 16);
    } else {
      if (size > kInfinity) return std::bit_cast<float>(0x7fffffffu);
      if (size == kInfinity) return std::bit_cast<float>(sign | 0x7f800000u);
      // Placed in a float's fields the exponent is too small by 127 - 15; multiplying corrects subnormals as well.
      const float magnitude = std::bit_cast<float>(size << (23 - fraction_bits)) * 0x1p112f;
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
  }
};

using Half = Format<5, 10>;
using Bfloat16 = Format<8, 7>;

// x * y + z for values of a 16-bit format, rounded to odd: rounding the result once more, to 16 bits, is then exact.
inline double fma_round_to_odd(double x, double y, double z) {
  const double product = x * y;  // exact: at most 22 bits
  const double sum = product + z;
  if (!std::isfinite(sum)) return sum;
  const double z_part = sum - product;
  const double error = (product - (sum - z_part)) + (z - z_part);
  std::uint64_t bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0.0 || (bits & 1)) return sum;
  return std::bit_cast<double>((error > 0.0) == (sum > 0.0) ? bits + 1 : bits - 1);
}

// An integer as a double, rounded to odd where it has more than 53 bits.
inline double to_double(unsigned long long value) {
  if (value < (1ull << 53)) return double(value);
  return double((value & ~0x7ffull) | ((value & 0x7ffull) != 0 ? 0x800ull : 0ull));
}
inline double to_double(long long value) {
  return value < 0 ? -to_double(0ull - static_cast<unsigned long long>(value))
                   : to_double(static_cast<unsigned long long>(value));
}

// A whole number as an integer: clamped; NaN becomes 0, or the top bit alone for 64 bits.
template <class I>
I to_integer(double whole) {
  constexpr int bits = 8 * sizeof(I);
  if (std::isnan(whole)) return bits == 64 ? I(std::uint64_t(1) << 63) : I(0);
  if (whole >= std::ldexp(1.0, std::numeric_limits<I>::digits)) return std::numeric_limits<I>::max();
  if (whole <= double(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
  return I(whole);
}

}  // namespace tilewise::sim::half_detail
