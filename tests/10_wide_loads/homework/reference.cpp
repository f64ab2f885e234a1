// The grader's half of the homework of chapter 10: inputs, expected results, and the results of common mistakes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "grader/task.hpp"
#include "tilewise/compare.hpp"
#include "tilewise/random.hpp"

namespace {

using namespace tilewise::grader;
using Index = std::size_t;

constexpr double kUntouched = std::numeric_limits<double>::quiet_NaN();  // outputs are filled with NaN before

class RowDots final : public Task {
 public:
  RowDots() : Task("10_wide_loads", "row_dots") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int rows = sizes[0], cols = sizes[1];
    const auto A = tilewise::random_vector(Index(rows) * Index(cols), 2 * seed);
    const auto x = tilewise::random_vector(Index(cols), 2 * seed + 1);
    if (only_inputs())
      return {.buffers = {input("A", rows, cols, A), input("x", 1, cols, x), output<float>("y", 1, rows, {})}};
    // The sums over those columns of a row that count; of |products| if `magnitude`.
    const auto sums = [&](bool magnitude, auto counts) {
      std::vector<double> y(static_cast<Index>(rows));
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < cols; ++c) {
          const double product = double{A[Index(r) * Index(cols) + Index(c)]} * double{x[Index(c)]};
          if (counts(c)) y[Index(r)] += magnitude ? std::abs(product) : product;
        }
      }
      return y;
    };
    const auto all = [](int) { return true; };
    const auto expected = sums(false, all);
    std::vector<double> bound;
    for (double m : sums(true, all)) bound.push_back(tilewise::error_bound(Index(cols), m));
    Problem p;
    p.buffers = {input("A", rows, cols, A), input("x", 1, cols, x), output<float>("y", 1, rows, expected, bound)};
    if (cols % 4 != 0)
      p.hypotheses.push_back(
          {fmt::format("the last {} columns are missing: a loop over cols / 4 groups of four?", cols % 4),
           sums(false, [=](int c) { return c < cols / 4 * 4; })});
    p.hypotheses.push_back({"only the first of each four words counts: .x, but not .y, .z and .w",
                            sums(false, [](int c) { return c % 4 == 0; })});
    p.hypotheses.push_back({"only lane 0's share is stored: the lanes' sums are not added up",
                            sums(false, [](int c) { return c % 128 < 4; })});
    p.hypotheses.push_back({"only lane 0's share is stored: the lanes' sums are not added up",
                            sums(false, [](int c) { return c % 32 == 0; })});
    p.hypotheses.push_back(
        {"only the first 128 columns are summed: one step of a warp", sums(false, [](int c) { return c < 128; })});
    for (int together : {4, 8}) {
      if (rows % together == 0) continue;
      Hypothesis rest{fmt::format("the grid is rounded down: the last rows % {} rows have no warp", together),
                      expected};
      for (Index r = Index(rows / together * together); r < Index(rows); ++r) rest.values[r] = kUntouched;
      p.hypotheses.push_back(std::move(rest));
    }
    p.least_flops = double(rows) * cols;
    return p;
  }

  std::string where(const Place& at) const override {
    const int cols = at.sizes[1];
    return fmt::format("row {}; it begins at word {} of A, {}", at.col, Index(at.col) * Index(cols),
                       cols % 4 == 0 ? "a multiple of four" : "and rows begin anywhere: cols is no multiple of four");
  }
};

/// G = A^T A: element (i, j) is the sum over k of A[k][i] A[k][j].
class Gram final : public Task {
 public:
  Gram() : Task("10_wide_loads", "gram") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int N = sizes[0], K = sizes[1];
    const auto A = tilewise::random_vector(Index(K) * Index(N), seed);
    if (only_inputs()) return {.buffers = {input("A", K, N, A), output<float>("G", N, N, {})}};
    const auto word = [&](int k, int i) { return double{A[Index(k) * Index(N) + Index(i)]}; };
    const auto product = [&](bool magnitude, auto counts) {
      std::vector<double> g;
      for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) {
          double sum = 0;
          for (int k = 0; k < K; ++k)
            if (counts(k)) sum += magnitude ? std::abs(word(k, i) * word(k, j)) : word(k, i) * word(k, j);
          g.push_back(sum);
        }
      }
      return g;
    };
    const auto all = [](int) { return true; };
    const auto expected = product(false, all);
    std::vector<double> bound;
    for (double m : product(true, all)) bound.push_back(tilewise::error_bound(Index(K), m));
    Problem p;
    p.buffers = {input("A", K, N, A), output<float>("G", N, N, expected, bound)};
    for (int tile : {8, 16, 32}) {
      if (K % tile != 0 && K > tile)
        p.hypotheses.push_back({fmt::format("the ragged last tile of k is missing: k from {} to {} is not in the sums",
                                            K / tile * tile, K - 1),
                                product(false, [=](int k) { return k < K / tile * tile; })});
      if (K > tile)
        p.hypotheses.push_back(
            {fmt::format("only the last tile of k is in the sums, from k = {} on", (K - 1) / tile * tile),
             product(false, [=](int k) { return k >= (K - 1) / tile * tile; })});
    }
    if (N % 4 != 0) {
      Hypothesis rest{"the last N % 4 columns are not written: groups of four that are not whole are left out",
                      expected};
      for (int i = 0; i < N; ++i)
        for (int j = N / 4 * 4; j < N; ++j) rest.values[Index(i) * Index(N) + Index(j)] = kUntouched;
      p.hypotheses.push_back(std::move(rest));
    }
    if (N == K) {
      Hypothesis by_rows{"this is A A^T, not A^T A: A is read by rows", {}};
      for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) {
          double sum = 0;
          for (int k = 0; k < K; ++k) sum += word(i, k) * word(j, k);
          by_rows.values.push_back(sum);
        }
      }
      p.hypotheses.push_back(std::move(by_rows));
    }
    p.hypotheses.push_back({"nothing is added to the sums", std::vector<double>(expected.size())});
    p.least_flops = double(N) * N * K / 2;  // G is symmetric
    p.flops = 2.0 * N * N * K;
    return p;
  }

  std::string where(const Place& at) const override {
    const int N = at.sizes[0], K = at.sizes[1];
    return fmt::format("column {} of A with column {}, in the block at ({}, {}) for tiles of 32; rows of A begin {}{}",
                       at.row, at.col, at.row / 32 * 32, at.col / 32 * 32,
                       N % 4 == 0 ? "at multiples of four words" : "anywhere: N is no multiple of four",
                       K % 8 != 0 ? fmt::format("; the last tile along k has {} of 8", K % 8) : "");
  }
};

const RowDots row_dots;
const Gram gram;

}  // namespace
