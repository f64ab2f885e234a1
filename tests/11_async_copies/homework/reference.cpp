// The grader's half of the homework of chapter 11: inputs, expected results, and the results of common mistakes.
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

/// score[s] is the sum over i of pattern[i] x[s + i].
class Match final : public Task {
 public:
  Match() : Task("11_async_copies", "match") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int positions = sizes[0], length = sizes[1];
    const auto x = tilewise::random_vector(Index(positions + length) - 1, 2 * seed);
    const auto pattern = tilewise::random_vector(Index(length), 2 * seed + 1);
    const int words = positions + length - 1;
    if (only_inputs())
      return {.buffers = {input("x", 1, words, x), input("pattern", 1, length, pattern),
                          output<float>("score", 1, positions, {})}};
    // The sums over those i that count, where pattern[i] meets x[at(s, i)], or 0 where there is no such word.
    const auto scores = [&](bool magnitude, auto counts, auto at) {
      std::vector<double> score;
      for (int s = 0; s < positions; ++s) {
        double sum = 0;
        for (int i = 0; i < length; ++i) {
          const int word = at(s, i);
          if (!counts(i) || word >= words) continue;
          const double product = double{pattern[Index(i)]} * double{x[Index(word)]};
          sum += magnitude ? std::abs(product) : product;
        }
        score.push_back(sum);
      }
      return score;
    };
    const auto all = [](int) { return true; };
    const auto right = [](int s, int i) { return s + i; };
    std::vector<double> bound;
    for (double m : scores(true, all, right)) bound.push_back(tilewise::error_bound(Index(length), m));
    const auto expected = scores(false, all, right);
    Problem p;
    p.buffers = {input("x", 1, words, x), input("pattern", 1, length, pattern),
                 output<float>("score", 1, positions, expected, bound)};
    for (int piece : {128, 256, 64}) {
      if (length <= piece) continue;
      if (length % piece != 0)
        p.hypotheses.push_back({fmt::format("the ragged last piece is missing: pattern[{}] to pattern[{}] are not in "
                                            "the sums",
                                            length / piece * piece, length - 1),
                                scores(
                                    false, [=](int i) { return i < length / piece * piece; }, right)});
      p.hypotheses.push_back({fmt::format("only the first {} words of the pattern are compared", piece),
                              scores(
                                  false, [=](int i) { return i < piece; }, right)});
      p.hypotheses.push_back(
          {fmt::format("only the last piece is compared, from pattern[{}] on", (length - 1) / piece * piece),
           scores(
               false, [=](int i) { return i >= (length - 1) / piece * piece; }, right)});
      p.hypotheses.push_back(
          {"every piece of the pattern is compared with the same words of x: those of piece p begin p * PIECE further "
           "on",
           scores(false, all, [=](int s, int i) { return s + i % piece; })});
      p.hypotheses.push_back({"a block's words of x do not begin where its places do: is blockIdx.x left out?",
                              scores(false, all, [=](int s, int i) { return s % piece + i; })});
    }
    p.hypotheses.push_back({"the pattern is reversed: pattern[i] belongs to x[s + i]",
                            scores(false, all, [=](int s, int i) { return s + length - 1 - i; })});
    if (positions % 128 != 0) {
      Hypothesis rest{"the grid is rounded down: the last positions % 128 places have no block", expected};
      for (Index s = Index(positions) / 128 * 128; s < Index(positions); ++s) rest.values[s] = kUntouched;
      p.hypotheses.push_back(std::move(rest));
    }
    p.least_flops = double(positions) * length;
    return p;
  }

  std::string where(const Place& at) const override {
    const int length = at.sizes[1];
    return fmt::format("place {} of its block, for blocks of 128; the pattern has {}", at.col % 128,
                       length <= 128       ? "one piece"
                       : length % 128 == 0 ? fmt::format("{} pieces", length / 128)
                                           : fmt::format("{} pieces, and the last has {} of 128 words",
                                                         (length + 127) / 128, length % 128));
  }
};

/// The mean of the 3 x 3 pixels around each.
class Blur final : public Task {
 public:
  Blur() : Task("11_async_copies", "blur") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int rows = sizes[0], cols = sizes[1];
    const auto in = tilewise::random_vector(Index(rows) * Index(cols), seed);
    if (only_inputs()) return {.buffers = {input("in", rows, cols, in), output<float>("out", rows, cols, {})}};
    const auto pixel = [&](int r, int c) {
      return r >= 0 && r < rows && c >= 0 && c < cols ? double{in[Index(r) * Index(cols) + Index(c)]} : 0.0;
    };
    // Sums of value(r, c, i, j) over the 3 x 3 places (r + i, c + j), divided by by(r, c).
    const auto means = [&](auto value, auto by) {
      std::vector<double> out;
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c) {
          double sum = 0;
          for (int i = -1; i <= 1; ++i)
            for (int j = -1; j <= 1; ++j) sum += value(r, c, i, j);
          out.push_back(sum / by(r, c));
        }
      return out;
    };
    const auto nine = [](int, int) { return 9.0; };
    const auto right = [&](int r, int c, int i, int j) { return pixel(r + i, c + j); };
    // What comes out when only some of the nine count.
    const auto only = [&](auto counts) {
      return means([&](int r, int c, int i, int j) { return counts(r, c, i, j) ? pixel(r + i, c + j) : 0.0; }, nine);
    };
    std::vector<double> bound;
    for (double m : means([&](int r, int c, int i, int j) { return std::abs(pixel(r + i, c + j)); }, nine))
      bound.push_back(tilewise::error_bound(12, m));
    const auto expected = means(right, nine);
    Problem p;
    p.buffers = {input("in", rows, cols, in), output<float>("out", rows, cols, expected, bound)};
    p.hypotheses.push_back(
        {"this is the sum of the nine pixels, not their mean", means(right, [](int, int) { return 1.0; })});
    p.hypotheses.push_back(
        {"at the edges the sum is divided by the number of pixels inside; what lies outside counts as 0, and is "
         "counted",
         means(right, [&](int r, int c) {
           return double(std::min(r + 1, rows - 1) - std::max(r - 1, 0) + 1) *
                  double(std::min(c + 1, cols - 1) - std::max(c - 1, 0) + 1);
         })});
    p.hypotheses.push_back(
        {"the pixels at the edges are repeated outside; what lies there counts as 0",
         means([&](int r, int c, int i,
                   int j) { return pixel(std::clamp(r + i, 0, rows - 1), std::clamp(c + j, 0, cols - 1)); },
               nine)});
    p.hypotheses.push_back(
        {"the next row's first pixels, or the last one's last, stand in for what lies left and right "
         "of the picture: the column, too, has to be inside",
         means(
             [&](int r, int c, int i, int j) {
               const long long at = (long long)(r + i) * cols + c + j;
               return r + i >= 0 && r + i < rows && at >= 0 && at < (long long)(in.size()) ? double{in[Index(at)]}
                                                                                           : 0.0;
             },
             nine)});
    p.hypotheses.push_back({"the corners are left out: five pixels are added up, not nine",
                            only([](int, int, int i, int j) { return i == 0 || j == 0; })});
    p.hypotheses.push_back({"the row above is left out", only([](int, int, int i, int) { return i >= 0; })});
    p.hypotheses.push_back({"the row below is left out", only([](int, int, int i, int) { return i <= 0; })});
    for (int strip : {128, 256, 64, 32})
      if (cols > strip)
        p.hypotheses.push_back(
            {fmt::format("a strip of {} columns doesn't see the columns beside it: its first and its "
                         "last column each need one more",
                         strip),
             only([=](int, int c, int, int j) { return (c + j + strip) / strip == c / strip + 1; })});
    for (int height : {32, 16, 64, 8, 128}) {
      if (rows <= height) continue;
      p.hypotheses.push_back(
          {fmt::format("the first row of each {} doesn't see the row above, which another block computes", height),
           only([=](int r, int, int i, int) { return i >= 0 || r % height != 0; })});
      p.hypotheses.push_back(
          {fmt::format("the last row of each {} doesn't see the row below, which another block computes", height),
           only([=](int r, int, int i, int) { return i <= 0 || r % height != height - 1; })});
      if (rows % height != 0) {
        Hypothesis rest{fmt::format("the grid is rounded down: the last rows % {} rows have no block", height),
                        expected};
        for (Index at = Index(rows / height * height) * Index(cols); at < expected.size(); ++at)
          rest.values[at] = kUntouched;
        p.hypotheses.push_back(std::move(rest));
      }
    }
    p.least_flops = 3.0 * rows * cols;
    return p;
  }

  std::string where(const Place& at) const override {
    const int rows = at.sizes[0], cols = at.sizes[1];
    std::string text;
    const auto say = [&](bool is, const char* what) {
      if (is) text += (text.empty() ? "" : ", ") + std::string(what);
    };
    say(at.row == 0, "in the first row");
    say(at.row == rows - 1, "in the last row");
    say(at.col == 0, "in the first column");
    say(at.col == cols - 1, "in the last column");
    return text.empty() ? "inside: all nine pixels are there" : text + ": what lies outside counts as 0";
  }
};

const Match match;
const Blur blur;

}  // namespace
