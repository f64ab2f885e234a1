/// @file
/// Is a result right? Element by element, against an FP64 reference, within a bound that rounding-error theory gives.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tilewise {

/// Rounding of one way to compute a sum of products: unit roundoffs, each the largest relative error of one rounding.
struct Arithmetic {
  double input = 0;             ///< of rounding each input once (0: the inputs are used as they are)
  double accumulate = 0x1p-24;  ///< of each product and each addition
  double output = 0;            ///< of storing the sum in a narrower type
  double tiny = 0x1p-149;       ///< absolute error that underflow can add per operation

  static Arithmetic fp32() { return {}; }
  static Arithmetic fp64() { return {.accumulate = 0x1p-53, .tiny = 0x1p-1074}; }
  /// Tensor cores: inputs cut (not rounded) to 10 mantissa bits, products exact, sums in FP32 that may be cut.
  static Arithmetic tf32() { return {.input = 0x1p-10, .accumulate = 0x1p-23, .tiny = 0x1p-126}; }
  /// half or bfloat16 inputs that are already exact in that type, FP32 sums, FP32 result.
  static Arithmetic narrow_inputs() { return {.accumulate = 0x1p-23, .tiny = 0x1p-126}; }
};

/// gamma_k = k u / (1 - k u) (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1); infinity once
/// k u >= 1.
double gamma(std::size_t k, double unit_roundoff);

/// Largest |computed - reference| that a right kernel can have in a sum of `k` products with `magnitude` = sum of
/// |a||b|, in whatever order it adds them. `gamma_k(accumulate) * magnitude` for FP32, plus two documented extras:
/// the reference's own error gamma_k(2^-53) * magnitude, and k * tiny for underflow. 0 when k is 0.
double error_bound(std::size_t k, double magnitude, const Arithmetic& arithmetic = Arithmetic::fp32());
/// The same where the sum's exact value is known, and with it what storing it in a narrower type rounds: the sum, whose terms may be far larger.
double error_bound(std::size_t k, double magnitude, double sum, const Arithmetic& arithmetic);

/// One element of a result.
struct Element {
  std::size_t row = 0;
  std::size_t col = 0;
  double got = 0;
  double expected = 0;
  double error = 0;  ///< |got - expected|; infinity or NaN where either is not finite
  double bound = 0;  ///< the largest error allowed here
};

/// What comparing a whole result says.
struct Comparison {
  bool ok = true;
  std::size_t checked = 0;  ///< elements compared one by one
  std::size_t wrong = 0;    ///< of them, wrong ones
  Element worst;            ///< largest error / bound; a wrong element if there is one
  Element first_wrong;      ///< in row order; meaningful when wrong > 0
  double max_error = 0;     ///< largest finite |got - expected|
  double bound_at_max = 0;  ///< the bound at that element
  std::string method;       ///< how the reference was made, e.g. "all elements"
  std::string failure;      ///< for whole-result checks: why it failed

  /// What is wrong: "3 of 1,024 elements; first at row 2, column 5: got nan, expected 0.5 +- 1e-06". "" if nothing.
  std::string reason() const;
  /// "right: max error 1.2e-06, bound 3.1e-05" or "WRONG: 3 of 1,024 elements; first at row 2, column 5: got nan, ..."
  std::string text() const;
};

/// Judges one element: NaN or infinity where a finite value is expected is wrong, a NaN or infinity that the
/// reference has too (same sign) is right, anything else is right when |got - expected| <= bound. A value beyond
/// the type's largest (`largest`) may come out as infinity.
bool element_ok(double got, double expected, double bound, double largest = 0x1.fffffep+127);

/// Compares `got` with `expected`, both rows x cols, row-major, allowing `bound[i]` at element i (an empty bound
/// means exact equality: for copies and transposes). Throws std::length_error when the sizes do not agree.
Comparison compare(std::span<const float> got, std::span<const double> expected, std::span<const double> bound,
                   std::size_t rows, std::size_t cols);
Comparison compare(std::span<const double> got, std::span<const double> expected, std::span<const double> bound,
                   std::size_t rows, std::size_t cols);

/// Bit for bit (but +0 equals -0 and NaN equals NaN): for kernels that only move data.
Comparison compare_exact(std::span<const float> got, std::span<const float> expected, std::size_t rows,
                         std::size_t cols);

}  // namespace tilewise
