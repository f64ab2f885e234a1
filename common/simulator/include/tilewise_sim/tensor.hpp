// Operations that the 32 lanes of a warp make together on its tensor cores: what <mma.h> and rewritten inline PTX call.
// The runtime implements them (runtime/tensor.cpp); which lane holds which element is in model/fragments.hpp.
#pragma once

#include <cstdint>

#include "tilewise_sim/device.hpp"

namespace tilewise::sim::tensor {

enum class Element : std::uint8_t { f16, bf16, tf32, f32, s8, u8, s32, f64 };
enum class Part : std::uint8_t { a, b, accumulator };

/// A matrix that a warp holds: A is m x k, B is k x n, the accumulators are m x n. Each lane has its elements in `x`, an array
/// of the element's type (tf32: of float).
struct Fragment {
  Part part;
  std::uint8_t m, n, k;
  Element element;
  bool operator==(const Fragment&) const = default;
};

/// D = A B + C.
struct Product {
  std::uint8_t m, n, k;
  std::uint8_t instructions;  ///< that a tensor core executes for it
  Element input;              ///< of A and B
  Element c, d;               ///< f32 or f16; s32 where the inputs are integers, f64 where they are
  bool saturates = false;     ///< sums of integers end at the largest and smallest there are
  bool operator==(const Product&) const = default;
};

/// All lanes must pass the same `memory`, `ldm` (elements from one row to the next, or column) and layout.
TILEWISE_DISTINCT void load(Fragment fragment, void* x, const void* memory, unsigned ldm, bool column_major);
TILEWISE_DISTINCT void store(Fragment fragment, const void* x, void* memory, unsigned ldm, bool column_major);
TILEWISE_DISTINCT void multiply(Product product, void* d, const void* a, const void* b, const void* c);

/// ldmatrix: 1, 2 or 4 matrices of 8 x 8 elements of 16 bits. Lane i names row i % 8 of matrix i / 8, and gets 32 bits of each.
TILEWISE_DISTINCT void load_matrices(unsigned count, bool transposed, std::uint32_t* d, const void* row);

/// The float nearest to `value` with a mantissa of 10 bits, ties away from zero; the other 13 bits are zeros.
float round_to_tf32(float value);

}  // namespace tilewise::sim::tensor
