/// @file
/// FP64 references that results are compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

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
  std::string text() const;
  bool operator==(const MatmulShape&) const = default;
};

/// How much of a result is compared one by one.
struct ReferenceOptions {
  /// m n k up to which every element has its FP64 reference (2^31: 1290^3, some seconds of one core).
  double full_limit = 0x1p31;
  std::size_t sampled_rows = 64;     ///< above the limit: whole rows, the first and the last among them
  std::size_t sampled_columns = 64;  ///< above the limit: whole columns, likewise
  std::uint64_t seed = 1;
  Arithmetic arithmetic = Arithmetic::fp32();
};

/// FP64 reference of C = A B with |A||B|, all row-major.
///
/// Up to `full_limit` every element is computed and compared. Above it, random whole rows and columns are compared
/// one by one, and every row of C takes part in a Freivalds check: C x against A (B x) for a random vector x of
/// signs. If every element of C is within its bound b_ij, |(C x - A B x)_i| exceeds 8 ||b_i|| with a probability
/// below 3e-14 (Hoeffding), so exceeding it means a wrong element; a single error must be larger than that
/// tolerance to be seen by it. A device that computes FP64 itself can deliver all elements: see from_parts().
class MatmulReference {
 public:
  MatmulReference(std::span<const float> A, std::span<const float> B, MatmulShape shape,
                  const ReferenceOptions& options = {});

  /// A reference whose elements and magnitudes (m x n each) were computed elsewhere in FP64. 64 of its rows are
  /// computed again on the host; throws std::runtime_error if they disagree.
  static MatmulReference from_parts(std::span<const float> A, std::span<const float> B, MatmulShape shape,
                                    std::span<const double> expected, std::span<const double> magnitude,
                                    const ReferenceOptions& options = {});

  /// Compares a result with the reference.
  Comparison check(std::span<const float> C) const;

  /// "all elements" or "64 rows, 64 columns, Freivalds".
  const std::string& method() const;

  ~MatmulReference();
  MatmulReference(MatmulReference&&) noexcept;
  MatmulReference& operator=(MatmulReference&&) noexcept;

 private:
  struct Data;
  explicit MatmulReference(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

}  // namespace tilewise
