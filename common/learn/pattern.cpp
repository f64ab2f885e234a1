#include "learn/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "grader/case.hpp"
#include "learn/judge.hpp"

namespace tilewise::learn {

namespace {

constexpr std::size_t kFewest = 4;  // of fewer, something is always true

/// The wrong elements, and what they should have been.
struct Wrong {
  std::vector<std::size_t> at;
  std::vector<double> got, expected;

  /// Whether this holds for all of them.
  template <class Holds>
  bool all(Holds holds) const {
    for (std::size_t k = 0; k < at.size(); ++k)
      if (!holds(k)) return false;
    return true;
  }
};

Wrong wrong_elements(const grader::Buffer& output, const grader::Values& got) {
  Wrong w;
  const double bound = output.bound.empty() ? 0 : output.bound[0];
  for (std::size_t i = 0; i < output.size(); ++i) {
    const double value = grader::element_of(got, i);
    if (std::abs(value - output.expected[i]) <= bound) continue;
    if (!std::isfinite(value) || grader::is_poison(got, i)) return {};
    w.at.push_back(i);
    w.got.push_back(value);
    w.expected.push_back(output.expected[i]);
  }
  return w;
}

std::string scaled(const Wrong& w) {
  if (w.all([&](std::size_t k) { return w.got[k] == 0; })) return "each of the wrong elements is 0";
  const auto first = std::find_if(w.expected.begin(), w.expected.end(), [](double e) { return e != 0; });
  if (first != w.expected.end()) {
    const double factor = w.got[static_cast<std::size_t>(first - w.expected.begin())] / *first;
    if (w.all([&](std::size_t k) { return w.got[k] == factor * w.expected[k]; }))
      return fmt::format("each of the wrong elements is {} times what it should be", count_text(factor));
  }
  const double apart = w.got[0] - w.expected[0];
  if (w.all([&](std::size_t k) { return w.got[k] - w.expected[k] == apart; }))
    return fmt::format("each of the wrong elements is {} too {}", count_text(std::abs(apart)),
                       apart > 0 ? "large" : "small");
  return "";
}

/// Elements that hold what belongs `step` elements further on; those for which there is no such place do not count.
bool is_shifted(const grader::Buffer& output, const Wrong& w, std::ptrdiff_t step) {
  std::size_t fits = 0;
  for (std::size_t k = 0; k < w.at.size(); ++k) {
    const std::ptrdiff_t from = static_cast<std::ptrdiff_t>(w.at[k]) + step;
    if (from < 0 || from >= static_cast<std::ptrdiff_t>(output.size())) continue;
    if (w.got[k] != output.expected[static_cast<std::size_t>(from)]) return false;
    ++fits;
  }
  return fits >= kFewest && fits + static_cast<std::size_t>(std::abs(step)) >= w.at.size();
}

std::string moved(const grader::Buffer& output, const Wrong& w) {
  const std::size_t n = output.size();
  if (w.all([&](std::size_t k) { return w.got[k] == output.expected[n - 1 - w.at[k]]; }))
    return output.rows == 1 ? "the order is the opposite of what is expected" : "";
  const auto rows = static_cast<std::size_t>(output.rows), cols = static_cast<std::size_t>(output.cols);
  if (rows == cols &&
      w.all([&](std::size_t k) { return w.got[k] == output.expected[w.at[k] % cols * cols + w.at[k] / cols]; }))
    return "rows and columns are exchanged, compared with what is expected";
  for (std::ptrdiff_t distance = 1; output.rows == 1 && distance <= 64; ++distance)
    for (const std::ptrdiff_t step : {distance, -distance})
      if (is_shifted(output, w, step))
        return fmt::format("each of the wrong elements holds what belongs {} element{} {}", distance,
                           distance == 1 ? "" : "s", step > 0 ? "further on" : "back");
  return "";
}

}  // namespace

std::string pattern_of(const grader::Buffer& output, const grader::Values& got) {
  const Wrong w = wrong_elements(output, got);
  if (w.at.size() < kFewest) return "";
  const std::string scale = scaled(w);
  return scale.empty() ? moved(output, w) : scale;
}

}  // namespace tilewise::learn
