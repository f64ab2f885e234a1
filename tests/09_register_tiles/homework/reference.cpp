// The grader's half of the homework of chapter 09: inputs, expected results, and the results of common mistakes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "grader/task.hpp"
#include "tilewise/random.hpp"

namespace {

using namespace tilewise::grader;
using Index = std::size_t;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Where a thread has several elements of a tile, they lie a step apart or side by side: where the element belongs that
/// arrives at `at`, when it is read in one way and written in the other.
int read_from(int at, int tile, int each, bool written_side_by_side) {
  const int step = tile / each, local = at % tile;
  return at - local + (written_side_by_side ? local / each + local % each * step : local % step * each + local / step);
}

class NearestLevel final : public Task {
 public:
  NearestLevel() : Task("09_register_tiles", "nearest_level") {}

  // Samples and levels are multiples of 1/4, and below 2^9: differences and their squares are exact, so that everybody
  // finds the same level.
  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int n = sizes[0], count = sizes[1];
    tilewise::Random random(seed * 2 + 1);
    const auto quarters = [&](int most) {
      return (static_cast<float>(random.below(std::uint64_t(2 * most) + 1)) - static_cast<float>(most)) / 4;
    };
    std::vector<float> x, levels;
    for (int l = 0; l < count; ++l) levels.push_back(quarters(1000));
    for (int i = 0; i < n; ++i) {
      const bool nan = random.below(40) == 0;
      const float sample = quarters(1000);
      x.push_back(nan ? std::nanf("") : sample);
    }
    if (only_inputs())
      return {.buffers = {input("x", 1, n, x), input("levels", 1, count, levels), output<int>("index", 1, n, {})}};
    // The first level of those before `end` that `better` prefers to all before it; `none` where there is none.
    const auto best = [&](int begin, int end, double none, auto better) {
      std::vector<double> index;
      for (float sample : x) {
        double at = none;
        float least = kInfinity;
        for (int l = begin; l < end; ++l) {
          const float difference = sample - levels[Index(l)];
          if (!better(difference, least)) continue;
          least = difference;
          at = l;
        }
        index.push_back(at);
      }
      return index;
    };
    const auto nearer = [](float d, float least) { return std::abs(d) < std::abs(least); };
    Problem p;
    p.buffers = {input("x", 1, n, x), input("levels", 1, count, levels),
                 output<int>("index", 1, n, best(0, count, -1, nearer))};
    p.hypotheses = {
        {"a sample that is NaN gets level 0: no distance to it is less than any other, so what `index` is set to at "
         "the start stays",
         best(0, count, 0, nearer)},
        {"of levels that are equally near the last one counts, not the first: <= where < belongs?",
         best(0, count, -1, [](float d, float least) { return std::abs(d) <= std::abs(least); })},
        {"the least difference counts, not the least distance: is there an fabsf() missing?",
         best(0, count, -1, [](float d, float least) { return d < least; })},
        {"level 0 is left out", best(1, count, -1, nearer)},
        {"the last level is left out", best(0, count - 1, -1, nearer)}};
    p.least_flops = std::min(n / 2, count - 1);  // who sorts the levels in shared memory needs few comparisons
    return p;
  }

  std::string where(const Place& at) const override {
    const auto& x = std::get<std::vector<float>>(at.problem.buffers[0].values);
    const auto& levels = std::get<std::vector<float>>(at.problem.buffers[1].values);
    const auto expected = at.output.expected[Index(at.col)];
    return expected < 0 ? fmt::format("x[{}] is NaN", at.col)
                        : fmt::format("x[{}] is {}, and levels[{:.0f}] is {}", at.col, x[Index(at.col)], expected,
                                      levels[Index(expected)]);
  }

  std::string guess(const Sizes&, const Problem&, const Buffer& out, const Values& got) const override {
    const int n = out.cols;
    if (n < 256) return "";
    for (const int threads : {128, 64, 256})
      for (const int each : {8, 4, 16})
        for (const bool side_by_side : {true, false}) {
          int agreed = 0, moved = 0;
          bool fits = true;
          for (int i = 0; i < n && fits; ++i) {
            const int from = read_from(i, threads * each, each, side_by_side);
            if (from >= n) continue;
            fits = element_of(got, Index(i)) == out.expected[Index(from)];
            ++agreed;
            moved += from != i && out.expected[Index(from)] != out.expected[Index(i)];
          }
          if (fits && agreed > n / 2 && moved > 0)
            return fmt::format(
                "a thread's samples are read {} and its results are written {}: with {} threads of {} samples each, "
                "every result is right and belongs elsewhere",
                side_by_side ? fmt::format("{} apart", threads) : "side by side",
                side_by_side ? "side by side" : fmt::format("{} apart", threads), threads, each);
        }
    return "";
  }
};

/// C[i][j] is the least A[i][k] + B[k][j].
class Cheapest final : public Task {
 public:
  Cheapest() : Task("09_register_tiles", "cheapest") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int M = sizes[0], N = sizes[1], K = sizes[2];
    tilewise::Random random(seed * 2 + 1);
    const auto prices = [&](int rows, int cols) {
      std::vector<float> all;
      for (Index i = 0; i < Index(rows) * Index(cols); ++i) {
        const bool none = random.below(8) == 0;
        const float price = 16 * random.uniform() + 17;  // 1 to 33
        all.push_back(none ? kInfinity : price);
      }
      return all;
    };
    const auto A = prices(M, K), B = prices(K, N);
    if (only_inputs()) return {.buffers = {input("A", M, K, A), input("B", K, N, B), output<float>("C", M, N, {})}};
    // Rounded as on the GPU, once: the sums are the same in whatever order they are compared.
    const auto trips = [&](float start, auto counts, auto better) {
      std::vector<double> c;
      for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
          float best = start;
          for (int k = 0; k < K; ++k) {
            const float price = A[Index(i) * Index(K) + Index(k)] + B[Index(k) * Index(N) + Index(j)];
            if (counts(k) && better(price, best)) best = price;
          }
          c.push_back(double{best});
        }
      return c;
    };
    const auto all = [](int) { return true; };
    const auto less = [](float price, float best) { return price < best; };
    const auto more = [](float price, float best) { return price > best; };
    const auto expected = trips(kInfinity, all, less);
    Problem p;
    p.buffers = {input("A", M, K, A), input("B", K, N, B), output<float>("C", M, N, expected)};
    p.hypotheses.push_back(
        {"0 is the least everywhere: does a minimum begin at 0, or does 0 stand in for words outside of A and B? What "
         "must never win is infinity",
         std::vector<double>(expected.size())});
    p.hypotheses.push_back(
        {"the minimum begins at FLT_MAX, which stays where there is no trip: such a price is infinity",
         trips(std::numeric_limits<float>::max(), all, less)});
    const auto dearest = trips(0, all, more);
    const bool endless = std::all_of(dearest.begin(), dearest.end(), [](double price) { return std::isinf(price); });
    p.hypotheses.push_back({endless
                                ? "all prices are infinity: no minimum is taken, or a maximum or a sum in its place, "
                                  "which one missing flight makes infinite"
                                : "the dearest trip counts, not the cheapest",
                            dearest});
    for (int tile : {8, 16, 32}) {
      if (K <= tile) continue;
      if (K % tile != 0)
        p.hypotheses.push_back(
            {fmt::format("the ragged last tile of k is missing: k from {} to {} is not tried", K / tile * tile, K - 1),
             trips(
                 kInfinity, [=](int k) { return k < K / tile * tile; }, less)});
      p.hypotheses.push_back(
          {fmt::format("only the last tile of k counts, from k = {} on: does the minimum begin anew with each tile?",
                       (K - 1) / tile * tile),
           trips(
               kInfinity, [=](int k) { return k >= (K - 1) / tile * tile; }, less)});
      p.hypotheses.push_back({fmt::format("only the first {} airports are tried", tile),
                              trips(
                                  kInfinity, [=](int k) { return k < tile; }, less)});
    }
    p.flops = double(M) * N * K;
    // A price that is infinite, or above the least so far, need not be added to another.
    p.least_flops = double(std::count_if(expected.begin(), expected.end(), [](double c) { return !std::isinf(c); }));
    return p;
  }

  std::string where(const Place& at) const override {
    const int M = at.sizes[0], N = at.sizes[1], K = at.sizes[2];
    if (K == 0) return "with K = 0 there is no airport, and every price is infinity";
    std::string text = fmt::format("row {} of {}, column {} of {}", at.row, M, at.col, N);
    if (std::isinf(at.output.expected[Index(at.row) * Index(N) + Index(at.col)])) text += "; no trip is possible there";
    if (K % 8 != 0) text += fmt::format("; the last tile along k has {} of 8", K % 8);
    return text;
  }

  std::string guess(const Sizes& sizes, const Problem&, const Buffer& out, const Values& got) const override {
    const int M = sizes[0], N = sizes[1];
    // Rows, columns or both arrive elsewhere in the tile than where they belong.
    for (const int tile : {32, 64, 128, 16})
      for (const int each : {4, 8, 2})
        for (const bool side_by_side : {true, false})
          for (const auto& [rows, cols] : {std::array{true, true}, {true, false}, {false, true}}) {
            int agreed = 0, moved = 0;
            bool fits = true;
            for (int i = 0; i < M && fits; ++i)
              for (int j = 0; j < N && fits; ++j) {
                const int row = rows ? read_from(i, tile, each, side_by_side) : i,
                          col = cols ? read_from(j, tile, each, side_by_side) : j;
                if (row >= M || col >= N) continue;
                fits =
                    element_of(got, Index(i) * Index(N) + Index(j)) == out.expected[Index(row) * Index(N) + Index(col)];
                ++agreed;
                moved += row != i || col != j;
              }
            if (!fits || moved < 8 || agreed < 16) continue;
            const std::string apart = fmt::format("{} apart", tile / each);
            return fmt::format(
                "every price is right and {} {} arrive elsewhere: with {} {} per thread in a tile of {}, what is read "
                "{} is written {}",
                rows && cols ? "most" : "whole",
                rows && cols ? "of them"
                : rows       ? "rows"
                             : "columns",
                each,
                rows && cols ? "rows and columns"
                : rows       ? "rows"
                             : "columns",
                tile, side_by_side ? apart : "side by side", side_by_side ? "side by side" : apart);
          }
    return "";
  }
};

const NearestLevel nearest_level;
const Cheapest cheapest;

}  // namespace
