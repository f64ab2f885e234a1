// Are running sums right on one shape? The one function that every right kernel must pass and every wrong one must
// fail.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "guarded_run.hpp"
#include "tilewise/compare.hpp"
#include "tilewise/random.hpp"

/// Launches a kernel for running sums: in, out, rows, cols. Returns what the launch returned.
using SumsLaunch = std::function<cudaError_t(const float*, float*, int, int)>;

using SumsShape = MatrixShape;

/// The sums in FP64, and for each the error that FP32 can make in whatever order it adds. Of small integers FP32 makes
/// none: then the bounds are empty, which means equal.
struct SumsReference {
  std::vector<double> sums, bounds;

  SumsReference(const std::vector<float>& in, const SumsShape& shape, bool exact) : sums(in.size()) {
    const auto [rows, cols] = shape;
    if (!exact) bounds.resize(in.size());
    std::size_t at = 0;
    for (int r = 0; r < rows; ++r) {
      double sum = 0, magnitude = 0;
      for (int c = 0; c < cols; ++c, ++at) {
        sums[at] = sum += in[at];
        magnitude += std::abs(static_cast<double>(in[at]));
        if (!exact) bounds[at] = tilewise::error_bound(c + 1, magnitude);
      }
    }
  }
};

/// Runs the kernel between canaries, on random data, and compares with the sums in FP64.
inline Verdict check_sums(const SumsLaunch& launch, const SumsShape& shape, std::uint64_t seed,
                          tilewise::Distribution distribution = tilewise::Distribution::uniform) {
  const auto [rows, cols] = shape;
  const auto words = static_cast<std::size_t>(rows) * cols;
  const std::vector<float> input = tilewise::random_vector(words, seed, distribution);
  const SumsReference reference(input, shape, distribution == tilewise::Distribution::integers);
  return guarded_run(
      [&](const float* in, float* out) { return launch(in, out, shape.first, shape.second); }, input, words,
      [&](Verdict& verdict, const std::vector<float>& got) {
        verdict.comparison = tilewise::compare(got, reference.sums, reference.bounds, shape.first, shape.second);
        if (!verdict.comparison.ok) verdict.add(Fault::wrong_value, verdict.comparison.text());
      });
}

/// One row, one column, primes, around 16 and 32 and their multiples, all with all; long, wide and empty ones.
inline const std::vector<SumsShape>& sums_shapes() {
  static const std::vector<SumsShape> shapes = [] {
    std::vector<SumsShape> list = {{0, 0},   {0, 5},   {5, 0},   {1, 1000}, {1000, 1}, {2, 257},
                                   {257, 2}, {96, 96}, {61, 67}, {64, 128}, {101, 53}, {3, 500}};
    for (int rows : {1, 2, 15, 31, 32, 33, 65})
      for (int cols : {1, 3, 15, 16, 17, 31, 32, 33, 47, 64}) list.emplace_back(rows, cols);
    return list;
  }();
  return shapes;
}

/// Shapes on which one wrong kernel at least must fail, with data whose sums are exact and with data whose are not.
inline Verdict check_sums_mutant(const SumsLaunch& launch) {
  Verdict all;
  for (const SumsShape& shape : {SumsShape{37, 41}, {50, 20}, {20, 70}, {64, 96}}) {
    for (auto distribution : {tilewise::Distribution::integers, tilewise::Distribution::uniform}) {
      const Verdict one = check_sums(launch, shape, 7, distribution);
      all.faults |= one.faults;
      if (!one.right()) all.text += text_of(shape) + ": " + one.text + "\n";
    }
  }
  return all;
}
