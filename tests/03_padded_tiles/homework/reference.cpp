// The grader's half of the homework of chapter 03: inputs, expected results, and the results of common mistakes.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "grader/task.hpp"
#include "tilewise/compare.hpp"
#include "tilewise/random.hpp"

namespace {

using namespace tilewise::grader;
using Index = std::size_t;

constexpr double kUntouched = std::numeric_limits<double>::quiet_NaN();  // outputs are filled with NaN before

/// "row 33: the ragged last block of 32 rows (32 to 34)"
std::string block_of(const std::string& what, int i, int n, int size) {
  const int first = i / size * size, last = std::min(first + size, n) - 1;
  return fmt::format("{} {}: {} of {} {}s ({} to {})", what, i,
                     last - first + 1 < size ? "the ragged last block"
                     : first == 0            ? "the first block"
                                             : fmt::format("block {}", i / size),
                     size, what, first, last);
}

class RecordSums final : public Task {
 public:
  RecordSums() : Task("03_padded_tiles", "record_sums") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int n = sizes[0];
    const auto x = tilewise::random_vector(8 * Index(n), seed);
    if (only_inputs()) return {.buffers = {input("x", n, 8, x), output<float>("y", 1, n, {})}};
    // The sums over those words j of a record i that count.
    const auto sum = [&](auto counts) {
      std::vector<double> y(static_cast<Index>(n));
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < 8; ++j)
          if (counts(i, j)) y[Index(i)] += double{x[8 * Index(i) + Index(j)]};
      return y;
    };
    std::vector<double> bound;
    for (Index i = 0; i < Index(n); ++i) {
      double magnitude = 0;
      for (Index j = 0; j < 8; ++j) magnitude += std::abs(double{x[8 * i + j]});
      bound.push_back(tilewise::error_bound(8, magnitude));
    }
    Problem p;
    const auto expected = sum([](int, int) { return true; });
    p.buffers = {input("x", n, 8, x), output<float>("y", 1, n, expected, bound)};
    p.hypotheses.push_back({"nothing is fetched: all words of the tile are 0", std::vector<double>(Index(n))});
    p.hypotheses.push_back({"words are fetched up to the n-th of x: n counts records, and x has 8 n words",
                            sum([&](int i, int j) { return 8 * i + j < n; })});
    p.hypotheses.push_back({"of each 32 records, only the words below 32 are fetched: words, not records, per block",
                            sum([](int i, int j) { return 8 * (i % 32) + j < 32; })});
    if (n % 32 != 0)
      p.hypotheses.push_back(
          {"a word is fetched where the lane that fetches has a record, first + lane < n: it is the word that must be "
           "there, "
           "which belongs to record first + w / 8",
           sum([&](int i, int j) { return i / 32 * 32 + (8 * (i % 32) + j) % 32 < n; })});
    p.hypotheses.push_back({"the first word of each record is left out", sum([](int, int j) { return j > 0; })});
    p.hypotheses.push_back({"the last word of each record is left out", sum([](int, int j) { return j < 7; })});
    // Sums of the same words, taken together wrongly: word j of record i of 32 is i of 32 records, by columns.
    Hypothesis columns{"the tile is walked by columns: eight words, one from each of eight places 32 words apart", {}};
    for (int i = 0; i < n; ++i) {
      double s = 0;
      for (int j = 0; j < 8; ++j) {
        const Index word = Index(i) / 32 * 256 + Index(i) % 32 + 32 * Index(j);
        s += word < x.size() ? double{x[word]} : 0;
      }
      columns.values.push_back(s);
    }
    p.hypotheses.push_back(std::move(columns));
    if (n % 32 != 0) {
      Hypothesis rest{"the grid is rounded down: the last n % 32 records are missing", expected};
      for (Index i = Index(n) / 32 * 32; i < Index(n); ++i) rest.values[i] = kUntouched;
      p.hypotheses.push_back(std::move(rest));
    }
    p.least_flops = 7.0 * n;
    return p;
  }

  std::string where(const Place& at) const override {
    return fmt::format("{}; its words are x[{}] to x[{}]", block_of("record", at.col, at.sizes[0], 32), 8 * at.col,
                       8 * at.col + 7);
  }
};

class RunningSumsTurned final : public Task {
 public:
  RunningSumsTurned() : Task("03_padded_tiles", "running_sums_turned") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int rows = sizes[0], cols = sizes[1];
    const auto in = tilewise::random_vector(Index(rows) * Index(cols), seed);
    if (only_inputs()) return {.buffers = {input("in", rows, cols, in), output<float>("out", cols, rows, {})}};
    const auto word = [&](int r, int c) { return double{in[Index(r) * Index(cols) + Index(c)]}; };
    // out[c][r] for all c and r
    const auto all = [&](auto value) {
      std::vector<double> out;
      for (int c = 0; c < cols; ++c)
        for (int r = 0; r < rows; ++r) out.push_back(value(r, c));
      return out;
    };
    // The sums of a row's first words, and of their magnitudes: a row has cols + 1 of them.
    std::vector<double> sums, magnitudes;
    for (int r = 0; r < rows; ++r) {
      double sum = 0, magnitude = 0;
      for (int c = 0; c <= cols; ++c) {
        sums.push_back(sum), magnitudes.push_back(magnitude);
        if (c < cols) sum += word(r, c), magnitude += std::abs(word(r, c));
      }
    }
    // The sum along row r from column `from` to column c.
    const auto along = [&](int r, int from, int c, bool magnitude = false) {
      const std::vector<double>& all_sums = magnitude ? magnitudes : sums;
      const Index row = Index(r) * Index(cols + 1);
      return all_sums[row + Index(c + 1)] - all_sums[row + Index(from)];
    };
    const auto expected = all([&](int r, int c) { return along(r, 0, c); });
    Problem p;
    p.buffers = {input("in", rows, cols, in), output<float>("out", cols, rows, expected, all([&](int r, int c) {
                                                              return tilewise::error_bound(Index(c) + 1,
                                                                                           along(r, 0, c, true));
                                                            }))};
    Hypothesis straight{"the sums are stored as `in` lies, by rows of `in`: out[c][r] belongs at out[c * rows + r]",
                        {}};
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) straight.values.push_back(along(r, 0, c));
    p.hypotheses.push_back(std::move(straight));
    p.hypotheses.push_back({"nothing is summed: this is the transpose of `in`", all(word)});
    p.hypotheses.push_back({"a sum ends one word too early: the word itself belongs to it",
                            all([&](int r, int c) { return along(r, 0, c - 1); })});
    p.hypotheses.push_back(
        {"the sums run down the columns of `in`, not along its rows",
         all([&, sum = 0.0](int r, int c) mutable { return sum = (r == 0 ? 0 : sum) + word(r, c); })});
    for (int tile : {32, 16}) {
      // What a lane of such a tile has summed before it comes to column c.
      std::vector<double> down;
      for (int r = 0; r < rows; ++r) {
        double sum = 0;
        for (int c = 0; c < cols; ++c) {
          const int from = r / tile * tile + c % tile, column = c / tile * tile + r % tile;
          sum += from < rows && column < cols ? word(from, column) : 0;
          down.push_back(sum);
        }
      }
      p.hypotheses.push_back(
          {fmt::format("the tile is walked down its columns, tile[j][lane], where a lane has a row of its "
                       "own: tile[lane][j] (tiles of {})",
                       tile),
           all([&](int r, int c) { return down[Index(r) * Index(cols) + Index(c)]; })});
    }
    for (int tile : {32, 16, 64}) {
      if (cols % tile != 0)
        p.hypotheses.push_back(
            {fmt::format("the ragged last tile is missing, columns {} to {} of `in`: a loop over cols / {} tiles?",
                         cols / tile * tile, cols - 1, tile),
             all([&](int r, int c) { return c < cols / tile * tile ? along(r, 0, c) : kUntouched; })});
      if (rows % tile != 0)
        p.hypotheses.push_back(
            {fmt::format("the grid is rounded down: rows {} to {} of `in` have no block", rows / tile * tile, rows - 1),
             all([&](int r, int c) { return r < rows / tile * tile ? along(r, 0, c) : kUntouched; })});
    }
    for (int tile : {32, 16, 64}) {
      if (cols <= tile) continue;
      p.hypotheses.push_back(
          {fmt::format("the sums begin anew in each tile: every {} columns, what was summed before is lost", tile),
           all([&](int r, int c) { return along(r, c / tile * tile, c); })});
      p.hypotheses.push_back({fmt::format("only the first {} columns are summed: one tile", tile),
                              all([&](int r, int c) { return c < tile ? along(r, 0, c) : kUntouched; })});
    }
    p.least_flops = double(rows) * (cols - 1);
    return p;
  }

  std::string where(const Place& at) const override {
    const int r = at.col, c = at.row;
    return fmt::format("the sum of in[{0}][0] to in[{0}][{1}]; {2}; {3}", r, c, block_of("row", r, at.sizes[0], 32),
                       block_of("column", c, at.sizes[1], 32));
  }
};

class SumsByKey final : public Task {
 public:
  SumsByKey() : Task("03_padded_tiles", "sums_by_key") {}
  static constexpr int kKeys = 64;

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int rows = sizes[0], cols = sizes[1];
    const auto values = tilewise::random_vector(Index(rows) * Index(cols), 2 * seed);
    // Half of the keys of a row are the same, as they often are; and of the others each second is its neighbour's.
    tilewise::Random random(2 * seed + 1);
    std::vector<std::int32_t> keys;
    for (int r = 0; r < rows; ++r) {
      const auto favourite = std::int32_t(random.below(kKeys));
      for (int c = 0; c < cols; ++c) {
        const auto dice = random.below(4);
        keys.push_back(dice < 2 ? favourite : dice == 2 && c > 0 ? keys.back() : std::int32_t(random.below(kKeys)));
      }
    }
    if (only_inputs())
      return {.buffers = {input("keys", rows, cols, keys), input("values", rows, cols, values),
                          output<float>("sums", rows, kKeys, {})}};
    // What is under each key of each row: the sum of term(i, r, c) over those words i, in row r and column c, that
    // count.
    const auto by_key = [&](auto term) {
      std::vector<double> sums(Index(rows) * kKeys);
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c) {
          const Index i = Index(r) * Index(cols) + Index(c);
          sums[Index(r) * kKeys + Index(keys[i])] += term(i, r, c);
        }
      return sums;
    };
    const auto value = [&](Index i, int, int) { return double{values[i]}; };
    const auto expected = by_key(value);
    const auto magnitude = by_key([&](Index i, int, int) { return std::abs(double{values[i]}); });
    const auto count = by_key([](Index, int, int) { return 1.0; });
    std::vector<double> bound;
    for (Index i = 0; i < expected.size(); ++i) bound.push_back(tilewise::error_bound(Index(count[i]), magnitude[i]));
    Problem p;
    p.buffers = {input("keys", rows, cols, keys), input("values", rows, cols, values),
                 output<float>("sums", rows, kKeys, expected, bound)};
    const auto stored = [&](const std::string& mistake, double instead, auto which) {
      Hypothesis h{mistake, expected};
      for (Index i = 0; i < h.values.size(); ++i)
        if (!which(int(i / kKeys), int(i % kKeys))) h.values[i] = instead;
      p.hypotheses.push_back(std::move(h));
    };
    for (double instead : {0.0, kUntouched}) {
      stored("only the first 32 keys are stored: a warp has 32 lanes, so each has two keys", instead,
             [](int, int b) { return b < 32; });
      if (rows > 1) stored("only row 0 is summed", instead, [](int r, int) { return r == 0; });
    }
    p.hypotheses.push_back({"values are counted, not summed", count});
    p.hypotheses.push_back(
        {"the keys are summed, not the values under them", by_key([&](Index i, int, int) { return double(keys[i]); })});
    for (int step : {32, 64, 128, 256}) {
      if (cols % step != 0)
        p.hypotheses.push_back(
            {fmt::format("the ragged end of each row is missing, columns {} to {}: a loop over cols / {} steps?",
                         cols / step * step, cols - 1, step),
             by_key([&](Index i, int, int c) { return c < cols / step * step ? double{values[i]} : 0; })});
      if (cols > step)
        p.hypotheses.push_back({fmt::format("only the first {} columns are summed", step),
                                by_key([&](Index i, int, int c) { return c < step ? double{values[i]} : 0; })});
      p.hypotheses.push_back({fmt::format("only every {}th column is summed: what one thread has found", step),
                              by_key([&](Index i, int, int c) { return c % step == 0 ? double{values[i]} : 0; })});
    }
    // Among equal keys of a warp's 32 only the last counts, when all lanes add to one word without taking turns.
    p.hypotheses.push_back(
        {"of the lanes with equal keys only one counts: they load, add and store the same word at the same time",
         by_key([&](Index i, int, int c) {
           for (int d = c + 1; d < cols && d / 32 == c / 32; ++d)
             if (keys[i + Index(d - c)] == keys[i]) return 0.0;
           return double{values[i]};
         })});
    if (rows > 1) {
      Hypothesis carried{"the sums go on from row to row: the counters are to be cleared for each", expected};
      for (Index i = kKeys; i < carried.values.size(); ++i) carried.values[i] += carried.values[i - kKeys];
      p.hypotheses.push_back(std::move(carried));
      Hypothesis turned{"the result is stored transposed: sums[r][b] belongs at sums[64 * r + b]", expected};
      for (Index r = 0; r < Index(rows); ++r)
        for (Index b = 0; b < kKeys; ++b) turned.values[b * Index(rows) + r] = expected[r * kKeys + b];
      p.hypotheses.push_back(std::move(turned));
    }
    p.least_flops = double(rows) * cols - double(expected.size());
    if (p.least_flops < 0) p.least_flops = 0;
    return p;
  }

  std::string where(const Place& at) const override {
    const auto& keys = std::get<std::vector<std::int32_t>>(at.problem.buffers[0].values);
    const Index cols = Index(at.sizes[1]), first = Index(at.row) * cols;
    int count = 0;
    for (Index c = 0; c < cols; ++c) count += keys[first + c] == at.col;
    return fmt::format("row {}, key {}: {} of its {} columns {} this key", at.row, at.col, count, cols,
                       count == 1 ? "has" : "have");
  }
};

const RecordSums record_sums;
const RunningSumsTurned running_sums_turned;
const SumsByKey sums_by_key;

}  // namespace
