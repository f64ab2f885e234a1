/// @file
/// FP64 references that results are compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilewise/compare.hpp"

namespace tilewise {

/// Sizes of C (m x n) = A (m x k) B (k x n).
struct MatmulShape {
  std::size_t m = 0;
  std::size_t n = 0;
  std::size_t k = 0;

  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
  /// Bytes of A, B and C in float: what must move at the least.
  double matrix_bytes() const { return 4.0 * (double(m) * double(k) + double(k) * double(n) + double(m) * double(n)); }
  /// "512 x 256 x 128": m x n x k.
  std::string text() const { return std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k); }
  bool operator==(const MatmulShape&) const = default;
};

/// How much of a result is compared with a bound, one by one.
struct ReferenceOptions {
  /// m n k up to which every element has its FP64 reference (2^31 is 1290^3: seconds of one core).
  double full_limit = 0x1p31;
  std::size_t sampled_rows = 64;     ///< above the limit: whole rows, the first and the last among them
  std::size_t sampled_columns = 64;  ///< above the limit: whole columns, likewise
  std::uint64_t seed = 1;
  Arithmetic arithmetic = Arithmetic::fp32();
};

/// FP64 reference of C = A B with its magnitude |A||B|, all row-major.
///
/// Up to `full_limit` every element is computed and compared. Above it, random whole rows and columns are, and every
/// other element must at least be finite and no larger than |A||B| allows (Cauchy-Schwarz): that finds whatever was
/// not written. ExactMatmulCheck covers every element of large results.
class MatmulReference {
 public:
  /// Computes the reference on all cores. Throws std::length_error when the spans do not fit the shape.
  MatmulReference(std::span<const float> A, std::span<const float> B, MatmulShape shape,
                  const ReferenceOptions& options = {});

  /// Compares a result (m x n, row-major) with the reference.
  Comparison check(std::span<const float> C) const;

  /// "all elements" or "64 rows, 64 columns".
  const std::string& method() const;

  ~MatmulReference();
  MatmulReference(MatmulReference&&) noexcept;
  MatmulReference& operator=(MatmulReference&&) noexcept;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

/// Every element of a product of any size, exactly, in O(mk + kn + mn).
///
/// With the integers of Distribution::integers (-4..4 without 0) every product and partial sum is an integer below
/// 2^24, so FP32 (and TF32, half, bfloat16 with FP32 sums) makes no rounding error in whatever order it adds, and a
/// single forgotten product changes the result. Freivalds' check then needs no tolerance: C x must equal A (B x) in
/// FP64, exactly, for two random vectors x of integers in -2^15..2^15. A wrong row of C passes with a probability
/// below 2^-32. Failing rows are computed in full, to name the wrong element.
class ExactMatmulCheck {
 public:
  static constexpr std::size_t kMaxK = std::size_t{1} << 20;

  /// `A` and `B` must hold integers in -4..4; k at most kMaxK, n at most 2^17 (else std::invalid_argument).
  ExactMatmulCheck(std::span<const float> A, std::span<const float> B, MatmulShape shape, std::uint64_t seed = 1);

  /// The spans given to the constructor must still be alive: failing rows are computed again from them.
  Comparison check(std::span<const float> C) const;

 private:
  std::span<const float> A_, B_;
  MatmulShape shape_;
  std::vector<double> x_;         // n x 2
  std::vector<double> expected_;  // m x 2: A (B x)
};

}  // namespace tilewise
