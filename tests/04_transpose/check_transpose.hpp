// Is a transpose right on one shape? The one function that every right kernel must pass and every wrong one must fail.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "01_naive_matmul/check_matmul.hpp"  // Fault, Verdict, GuardedMatrix, NewFindings
#include "tilewise/compare.hpp"
#include "tilewise/device.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/random.hpp"

/// Launches a transpose: in, out, rows, cols. Returns what the launch returned.
using TransposeLaunch = std::function<cudaError_t(const float*, float*, int, int)>;

using TransposeShape = std::pair<int, int>;  // rows, cols of the input

inline std::string text_of(const TransposeShape& shape) {
  return std::to_string(shape.first) + " x " + std::to_string(shape.second);
}

inline std::vector<float> transposed(const std::vector<float>& in, int rows, int cols) {
  std::vector<float> out(in.size());
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r)
    for (std::size_t c = 0; c < static_cast<std::size_t>(cols); ++c) out[c * rows + r] = in[r * cols + c];
  return out;
}

/// Runs the kernel between canaries, with `out` poisoned, and looks at everything it may have done. On the simulator it
/// runs once more on matrices that end where their allocations end, so that reading beyond them is seen too.
/// `copies`: the kernel is meant to copy, not to transpose.
inline Verdict check_transpose(const TransposeLaunch& launch, const TransposeShape& shape, std::uint64_t seed,
                               tilewise::Distribution distribution = tilewise::Distribution::uniform,
                               bool copies = false) {
  const auto [rows, cols] = shape;
  const auto words = static_cast<std::size_t>(rows) * cols;
  const std::vector<float> input = tilewise::random_vector(words, seed, distribution);

  Verdict verdict;
  NewFindings findings;
  const auto run = [&](const float* from, float* to) {
    cudaError_t status = launch(from, to, rows, cols);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status == cudaSuccess) return true;
    cudaGetLastError();
    verdict.add(Fault::launch_failed, cudaGetErrorString(status));
    return false;
  };

  {
    GuardedMatrix in(input);
    // The margins hold a number, so that a NaN that was read beside `in` and written beside `out` is seen.
    GuardedMatrix out(std::vector<float>(words, GuardedMatrix::canary()), -1.2345678e33f);
    if (run(in.data(), out.data())) {
      verdict.comparison = copies ? tilewise::compare_exact(out.values(), input, rows, cols)
                                  : tilewise::compare_exact(out.values(), transposed(input, rows, cols), cols, rows);
      if (!verdict.comparison.ok) verdict.add(Fault::wrong_value, verdict.comparison.text());
      if (!out.margins_intact()) verdict.add(Fault::outside_written, "memory around the output was written");
      if (!in.intact()) verdict.add(Fault::input_changed, "the input was changed");
    }
    if (const std::string text = findings.take(); !text.empty()) verdict.add(Fault::finding, text);
  }

  if (tilewise::is_simulated() && verdict.right()) {
    {
      const tilewise::DeviceBuffer<float> in(input);
      tilewise::DeviceBuffer<float> out(words);
      run(in.data(), out.data());
      if (const std::string text = findings.take(); !text.empty()) verdict.add(Fault::finding, text);
    }
    if (verdict.has(Fault::launch_failed)) cudaDeviceReset();  // an access out of bounds is the end of a context
  }
  return verdict;
}

/// One row, one column, primes, powers of two and their neighbours, all with all; long, wide and empty ones.
inline const std::vector<TransposeShape>& transpose_shapes() {
  static const std::vector<TransposeShape> shapes = [] {
    std::vector<TransposeShape> list = {{0, 0},   {0, 5},     {5, 0},    {1, 1000},  {1000, 1}, {2, 511},
                                        {509, 3}, {255, 257}, {129, 63}, {128, 128}, {71, 72},  {72, 71}};
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

/// Shapes on which one wrong kernel at least must fail. All ragged, none square.
inline Verdict check_transpose_mutant(const TransposeLaunch& launch) {
  Verdict all;
  for (const TransposeShape& shape : {TransposeShape{37, 41}, {20, 50}, {50, 20}, {64, 32}, {29, 63}, {101, 30}}) {
    const Verdict one = check_transpose(launch, shape, 7);
    all.faults |= one.faults;
    if (!one.right()) all.text += text_of(shape) + ": " + one.text + "\n";
  }
  return all;
}
