// Steps of XORWOW by the thousand: a step is a linear map of 160 bits, so 2^k steps are the k-th square of its matrix.
#include "tilewise_device/random.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace tilewise::sim::random {

namespace {

constexpr int kBits = 160;
using Bits = std::array<std::uint32_t, kBits / 32>;
using Matrix = std::array<Bits, kBits>;  ///< its columns: what becomes of each bit

Bits operator*(const Matrix& m, const Bits& bits) {
  Bits sum{};
  for (std::size_t i = 0; i < kBits; ++i) {
    if ((bits[i / 32] >> (i % 32) & 1) == 0) continue;
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] ^= m[i][k];
  }
  return sum;
}

Matrix one_step() {
  Matrix m;
  for (std::size_t i = 0; i < kBits; ++i) {
    Xorwow x{};
    x.v[i / 32] = 1u << (i % 32);
    x.next();
    for (std::size_t k = 0; k < m[i].size(); ++k) m[i][k] = x.v[k];
  }
  return m;
}

Matrix squared(const Matrix& m) {
  Matrix square;
  for (std::size_t i = 0; i < kBits; ++i) square[i] = m * m[i];
  return square;
}

/// Element k: 2^k steps. 131 matrices of 3,200 bytes, made when the first is asked for.
const std::vector<Matrix>& powers() {
  static const std::vector<Matrix>& all = *[] {
    auto* made = new std::vector<Matrix>{one_step()};
    while (made->size() < 67 + 64) made->push_back(squared(made->back()));
    return made;
  }();
  return all;
}

}  // namespace

void skip_xorwow(std::uint32_t words[5], std::uint64_t n, int shift) {
  Bits bits;
  for (std::size_t k = 0; k < bits.size(); ++k) bits[k] = words[k];
  for (std::size_t k = std::size_t(shift); n != 0; n >>= 1, ++k)
    if (n & 1) bits = powers()[k] * bits;
  for (std::size_t k = 0; k < bits.size(); ++k) words[k] = bits[k];
}

}  // namespace tilewise::sim::random
