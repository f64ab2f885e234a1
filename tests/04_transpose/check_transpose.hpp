// Is a transpose right on one shape? The one function that every right kernel must pass and every wrong one must fail.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "guarded_run.hpp"
#include "tilewise/compare.hpp"
#include "tilewise/random.hpp"

/// Launches a transpose: in, out, rows, cols. Returns what the launch returned.
using TransposeLaunch = std::function<cudaError_t(const float*, float*, int, int)>;

using TransposeShape = MatrixShape;

inline std::vector<float> transposed(const std::vector<float>& in, int rows, int cols) {
  std::vector<float> out(in.size());
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r)
    for (std::size_t c = 0; c < static_cast<std::size_t>(cols); ++c) out[c * rows + r] = in[r * cols + c];
  return out;
}

/// Runs the kernel between canaries, on random data, and compares bits. `copies`: it is meant to copy, not to
/// transpose.
inline Verdict check_transpose(const TransposeLaunch& launch, const TransposeShape& shape, std::uint64_t seed,
                               tilewise::Distribution distribution = tilewise::Distribution::uniform,
                               bool copies = false) {
  const auto [rows, cols] = shape;
  const auto words = static_cast<std::size_t>(rows) * cols;
  const std::vector<float> input = tilewise::random_vector(words, seed, distribution);
  const std::vector<float> expected = copies ? input : transposed(input, rows, cols);
  return guarded_run([&](const float* in, float* out) { return launch(in, out, shape.first, shape.second); }, input,
                     words,
                     [&](Verdict& verdict, const std::vector<float>& got) {
                       const auto [height, width] = copies ? shape : TransposeShape{shape.second, shape.first};
                       verdict.comparison = tilewise::compare_exact(got, expected, height, width);
                       if (!verdict.comparison.ok) verdict.add(Fault::wrong_value, verdict.comparison.text());
                     });
}

/// One row, one column, primes, powers of two and their neighbours, all with all; long, wide and empty ones.
inline const std::vector<TransposeShape>& transpose_shapes() {
  static const std::vector<TransposeShape> shapes = [] {
    std::vector<TransposeShape> list = {{0, 0},     {0, 5},    {5, 0},     {1, 1000}, {1000, 1}, {2, 511}, {509, 3},
                                        {255, 257}, {129, 63}, {128, 128}, {71, 72},  {72, 71},  {260, 1}, {257, 2}};
    for (int rows : {1, 2, 7, 16, 31, 32, 33, 65})
      for (int cols : {1, 3, 8, 17, 32, 47, 64, 97}) list.emplace_back(rows, cols);
    return list;
  }();
  return shapes;
}

/// Multiples of 4, all with all, around the tile of 64.
inline const std::vector<TransposeShape>& multiples_of_4() {
  static const std::vector<TransposeShape> shapes = [] {
    std::vector<TransposeShape> list = {{0, 0}, {0, 4}, {4, 0}, {4, 1000}, {1000, 4}, {128, 256}};
    for (int rows : {4, 8, 20, 60, 64, 68, 132})
      for (int cols : {4, 12, 28, 64, 68, 72, 124}) list.emplace_back(rows, cols);
    return list;
  }();
  return shapes;
}

/// Shapes on which one wrong kernel at least must fail. All ragged, none square, one narrow.
inline Verdict check_transpose_mutant(const TransposeLaunch& launch) {
  Verdict all;
  for (const TransposeShape& shape :
       {TransposeShape{37, 41}, {20, 50}, {50, 20}, {64, 32}, {29, 63}, {101, 30}, {150, 1}}) {
    const Verdict one = check_transpose(launch, shape, 7);
    all.faults |= one.faults;
    if (!one.right()) all.text += text_of(shape) + ": " + one.text + "\n";
  }
  return all;
}
