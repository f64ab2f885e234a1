// Did a kernel of chapter 05 do what it should, and nothing else? The one function that every right kernel must pass
// and every wrong one must fail.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "guarded_run.hpp"
#include "tilewise/compare.hpp"
#include "tilewise/random.hpp"

/// Input, and the output that must come of it.
struct Task {
  std::vector<float> in;
  std::vector<float> out;         ///< for kernels that move: these very bits; canaries stay where nothing is written
  std::vector<double> reference;  ///< for kernels that compute
  std::vector<double> bound;      ///< of the reference

  std::size_t out_size() const { return reference.empty() ? out.size() : reference.size(); }
};

/// Runs a kernel: in, out.
using TaskLaunch = std::function<cudaError_t(const float*, float*)>;

/// Runs the kernel between canaries and compares with what must come of it.
inline Verdict check_task(const TaskLaunch& launch, const Task& task) {
  return guarded_run(launch, task.in, task.out_size(), [&](Verdict& verdict, const std::vector<float>& got) {
    if (!task.reference.empty()) {
      verdict.comparison =
          tilewise::compare(std::span<const float>(got), task.reference, task.bound, 1, task.reference.size());
      if (!verdict.comparison.ok) verdict.add(Fault::wrong_value, verdict.comparison.text());
      return;
    }
    verdict.comparison.checked = got.size();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(got[i]), wanted = std::bit_cast<std::uint32_t>(task.out[i]);
      if (bits == wanted) continue;
      ++verdict.comparison.wrong;
      const bool between = wanted == std::bit_cast<std::uint32_t>(GuardedMatrix::canary());
      const Fault fault = between ? Fault::outside_written : Fault::wrong_value;
      if (verdict.has(fault)) continue;
      verdict.add(fault, (between ? "a word between was written: " : "wrong word: ") + std::to_string(i) + " is " +
                             std::to_string(got[i]) + ", not " + std::to_string(task.out[i]));
    }
  });
}

/// `count` words of `floats` floats; word i goes from in_offset + i * in_stride to out_offset + i * out_stride.
struct Way {
  std::size_t count = 0;
  std::size_t floats = 1;
  std::size_t in_stride = 1, in_offset = 0;
  std::size_t out_stride = 1, out_offset = 0;
};

inline Task move_task(const Way& w, std::uint64_t seed,
                      tilewise::Distribution distribution = tilewise::Distribution::uniform) {
  const auto size = [&](std::size_t stride, std::size_t offset) {
    return w.count == 0 ? 0 : ((w.count - 1) * stride + 1 + offset) * w.floats;
  };
  Task task;
  task.in = tilewise::random_vector(size(w.in_stride, w.in_offset), seed, distribution);
  task.out.assign(size(w.out_stride, w.out_offset), GuardedMatrix::canary());
  for (std::size_t i = 0; i < w.count; ++i)
    for (std::size_t f = 0; f < w.floats; ++f)
      task.out[(w.out_offset + i * w.out_stride) * w.floats + f] =
          task.in[(w.in_offset + i * w.in_stride) * w.floats + f];
  return task;
}

inline Task gather_task(const std::vector<unsigned>& index, std::size_t table, std::uint64_t seed) {
  Task task;
  task.in = tilewise::random_vector(table, seed);
  for (unsigned i : index) task.out.push_back(task.in[i]);
  return task;
}

/// One step of `count` particles, by `soa` as eight arrays of fields, else as an array of structures of eight fields.
inline Task particle_task(std::size_t count, float dt, bool soa, std::uint64_t seed,
                          tilewise::Distribution distribution = tilewise::Distribution::uniform) {
  Task task;
  task.in = tilewise::random_vector(8 * count, seed, distribution);
  task.reference.resize(task.in.size());
  task.bound.resize(task.in.size());
  const auto at = [&](std::size_t i, std::size_t field) { return soa ? field * count + i : 8 * i + field; };
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t field = 0; field < 8; ++field) {
      const double old = task.in[at(i, field)];
      double change = 0, factor = 1, bound = 0;
      if (field < 3) change = static_cast<double>(dt) * task.in[at(i, 4 + field)];
      if (field == 3) change = dt;
      if (field >= 4 && field < 7) factor = task.in[at(i, 7)];
      if (field < 4) bound = tilewise::error_bound(2, std::abs(old) + std::abs(change));
      if (field >= 4 && field < 7) bound = tilewise::error_bound(1, std::abs(old * factor));
      task.reference[at(i, field)] = old * factor + change;
      task.bound[at(i, field)] = bound;
    }
  }
  return task;
}

using SumShape = std::pair<int, int>;  // rows, cols

inline Task sum_task(const SumShape& shape, bool of_rows, std::uint64_t seed,
                     tilewise::Distribution distribution = tilewise::Distribution::uniform) {
  const auto rows = static_cast<std::size_t>(shape.first), cols = static_cast<std::size_t>(shape.second);
  Task task;
  task.in = tilewise::random_vector(rows * cols, seed, distribution);
  task.reference.assign(of_rows ? rows : cols, 0.0);
  task.bound = task.reference;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) {
      task.reference[of_rows ? row : col] += task.in[row * cols + col];
      task.bound[of_rows ? row : col] += std::abs(static_cast<double>(task.in[row * cols + col]));
    }
  }
  for (double& bound : task.bound) bound = tilewise::error_bound(of_rows ? cols : rows, bound);
  return task;
}

/// None, one, primes, powers of two and their neighbours; less than a warp, a block, a block's share, and more.
inline const std::vector<std::size_t>& word_counts() {
  static const std::vector<std::size_t> counts = {
      0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    15,   16,   17,   31,   32,   33,
      47,   63,   64,   65,   97,   127,  128,  129,  255,  256,  257,  500,  511,  512,  513,  777,
      1000, 1023, 1024, 1025, 1999, 2047, 2048, 2049, 3001, 4095, 4096, 4097, 4099, 5000, 8191, 8194};
  return counts;
}

/// No rows or columns, one, primes, powers of two and their neighbours, all with all; long, wide and empty ones.
inline const std::vector<SumShape>& sum_shapes() {
  static const std::vector<SumShape> shapes = [] {
    std::vector<SumShape> list = {{0, 0},   {0, 5},   {5, 0},     {1, 1000}, {1000, 1},
                                  {2, 511}, {509, 3}, {255, 257}, {129, 63}};
    for (int rows : {1, 2, 7, 31, 32, 33, 65})
      for (int cols : {1, 3, 17, 32, 47, 64, 97}) list.emplace_back(rows, cols);
    return list;
  }();
  return shapes;
}

/// 0 .. count - 1 in an order that depends on the seed; no index twice.
inline std::vector<unsigned> some_order(std::size_t count, std::uint64_t seed) {
  std::vector<unsigned> index(count);
  std::iota(index.begin(), index.end(), 0u);
  tilewise::Random random(seed);
  for (std::size_t left = count; left > 1; --left) std::swap(index[left - 1], index[random.below(left)]);
  return index;
}
