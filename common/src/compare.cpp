#include "tilewise/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "tilewise/table.hpp"

namespace tilewise {

double gamma(std::size_t k, double unit_roundoff) {
  const double ku = static_cast<double>(k) * unit_roundoff;
  return ku < 1 ? ku / (1 - ku) : std::numeric_limits<double>::infinity();
}

double error_bound(std::size_t k, double magnitude, const Arithmetic& arithmetic) {
  if (k == 0) return 0;
  const double inputs = (1 + arithmetic.input) * (1 + arithmetic.input);
  const double kernel = inputs * (1 + gamma(k, arithmetic.accumulate)) * (1 + arithmetic.output) - 1;
  const double reference = gamma(k, 0x1p-53);
  return (kernel + reference) * magnitude + static_cast<double>(k) * arithmetic.tiny;
}

double error_bound(std::size_t k, double magnitude, double sum, const Arithmetic& arithmetic) {
  Arithmetic not_stored = arithmetic;
  not_stored.output = 0;
  const double computed = error_bound(k, magnitude, not_stored);
  return arithmetic.output == 0 ? computed : computed + arithmetic.output * (std::abs(sum) + computed);
}

bool element_ok(double got, double expected, double bound, double largest) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == expected;
  if (std::isinf(got)) {
    // Overflow is right where the exact value, give or take the rounding errors, lies beyond the largest number.
    return std::abs(expected) + bound > largest && std::signbit(got) == std::signbit(expected);
  }
  return std::abs(got - expected) <= bound;  // false for NaN
}

namespace {

// How far outside its bound an element is; a wrong element always ranks above a right one.
double badness(const Element& element, bool ok) {
  if (!ok) {
    const double ratio = element.error / element.bound;
    return std::isfinite(ratio) ? std::max(ratio, 1.0) : std::numeric_limits<double>::infinity();
  }
  return element.bound > 0 && std::isfinite(element.error) ? element.error / element.bound : 0;
}

// Elements first .. last - 1, row by row; `worst` is how bad the worst of them is.
template <class Got, class Expected, class Bound>
Comparison compare_some(std::size_t first, std::size_t last, std::size_t cols, double largest, const Got& got,
                        const Expected& expected, const Bound& bound, double& worst) {
  Comparison result;
  std::size_t row = first / cols, col = first % cols;
  for (std::size_t i = first; i < last; ++i) {
    const double g = got(i), e = expected(i), b = bound(i);
    const bool ok = element_ok(g, e, b, largest);
    // Infinity minus itself is NaN; equal values have no error.
    const Element element{row, col, g, e, g == e ? 0 : std::abs(g - e), b};
    if (!ok && result.wrong++ == 0) result.first_wrong = element;
    if (std::isfinite(element.error) && element.error > result.max_error) {
      result.max_error = element.error;
      result.bound_at_max = b;
    }
    if (const double bad = badness(element, ok); bad > worst) {
      worst = bad;
      result.worst = element;
    }
    if (++col == cols) ++row, col = 0;
  }
  return result;
}

// On all cores. What is found is what one core finds, since panels are put together in their order.
template <class Got, class Expected, class Bound>
Comparison compare_all(std::size_t rows, std::size_t cols, double largest, const Got& got, const Expected& expected,
                       const Bound& bound) {
  constexpr std::size_t kPanel = 1 << 16;
  struct Part {
    Comparison found;
    double worst = -1;
  };
  const std::size_t size = rows * cols;
  std::vector<Part> parts((size + kPanel - 1) / kPanel);
  parallel_panels(size, kPanel, [&](std::size_t begin, std::size_t end) {
    Part part;
    part.found = compare_some(begin, end, cols, largest, got, expected, bound, part.worst);
    parts[begin / kPanel] = std::move(part);
  });
  Comparison result;
  result.checked = size;
  result.method = "all elements";
  double worst = -1;
  for (const Part& part : parts) {
    if (result.wrong == 0) result.first_wrong = part.found.first_wrong;
    result.wrong += part.found.wrong;
    if (part.found.max_error > result.max_error) {
      result.max_error = part.found.max_error;
      result.bound_at_max = part.found.bound_at_max;
    }
    if (part.worst > worst) {
      worst = part.worst;
      result.worst = part.found.worst;
    }
  }
  if (result.max_error == 0 && result.checked > 0) result.bound_at_max = result.worst.bound;
  result.ok = result.wrong == 0;
  return result;
}

void expect_sizes(std::size_t got, std::size_t expected, std::size_t bound, std::size_t rows, std::size_t cols) {
  const std::size_t size = rows * cols;
  if (got != size || expected != size || (bound != size && bound != 0))
    throw std::length_error(fmt::format("compare: {} x {} elements wanted; got {}, expected {}, bounds {}", rows, cols,
                                        got, expected, bound));
}

template <class T>
Comparison compare_values(std::span<const T> got, std::span<const double> expected, std::span<const double> bound,
                          std::size_t rows, std::size_t cols) {
  expect_sizes(got.size(), expected.size(), bound.size(), rows, cols);
  return compare_all(
      rows, cols, static_cast<double>(std::numeric_limits<T>::max()),
      [&](std::size_t i) { return static_cast<double>(got[i]); }, [&](std::size_t i) { return expected[i]; },
      [&](std::size_t i) { return bound.empty() ? 0.0 : bound[i]; });
}

bool same_bytes(std::span<const float> a, std::span<const float> b) {
  constexpr std::size_t kPanel = std::size_t{1} << 22;
  std::atomic<bool> same{true};
  parallel_panels(a.size(), kPanel, [&](std::size_t begin, std::size_t end) {
    if (same && std::memcmp(a.data() + begin, b.data() + begin, (end - begin) * sizeof(float)) != 0) same = false;
  });
  return same;
}

}  // namespace

Comparison compare(std::span<const float> got, std::span<const double> expected, std::span<const double> bound,
                   std::size_t rows, std::size_t cols) {
  return compare_values(got, expected, bound, rows, cols);
}

Comparison compare(std::span<const double> got, std::span<const double> expected, std::span<const double> bound,
                   std::size_t rows, std::size_t cols) {
  return compare_values(got, expected, bound, rows, cols);
}

Comparison compare_exact(std::span<const float> got, std::span<const float> expected, std::size_t rows,
                         std::size_t cols) {
  expect_sizes(got.size(), expected.size(), 0, rows, cols);
  if (same_bytes(got,
                 expected)) {  // quick: only a failure, or a NaN or zero of another kind, needs a look at each element
    Comparison comparison;
    comparison.checked = got.size();
    return comparison;
  }
  return compare_all(
      rows, cols, std::numeric_limits<double>::infinity(), [&](std::size_t i) { return static_cast<double>(got[i]); },
      [&](std::size_t i) { return static_cast<double>(expected[i]); }, [](std::size_t) { return 0.0; });
}

std::string Comparison::reason() const {
  if (ok) return "";
  if (wrong == 0) return failure;
  const Element& e = first_wrong;
  // A NaN has a sign bit, which says nothing.
  const std::string got = std::isnan(e.got) ? "nan" : fmt::format("{:.9g}", e.got);
  return fmt::format("{} of {} elements{}; first at row {}, column {}: got {}, expected {:.9g} +- {:.2g}",
                     with_commas(wrong), with_commas(checked), failure.empty() ? "" : " (" + failure + ")", e.row,
                     e.col, got, e.expected, e.bound);
}

std::string Comparison::text() const {
  if (!ok) return "WRONG: " + reason();
  return fmt::format("right: max error {:.2g}, bound {:.2g} ({})", max_error, bound_at_max, method);
}

}  // namespace tilewise
