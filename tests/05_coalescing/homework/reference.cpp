// The grader's half of the homework of chapter 05: inputs, expected results, and the results of common mistakes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "grader/task.hpp"
#include "tilewise/compare.hpp"
#include "tilewise/random.hpp"

namespace {

using namespace tilewise::grader;

std::vector<float> random(int size, std::uint64_t seed) { return tilewise::random_vector(std::size_t(size), seed); }

/// Random words, and some that only a move keeps as they are: -0, infinity, one that is not normalised.
std::vector<float> words(int size, std::uint64_t seed) {
  std::vector<float> values = random(size, seed);
  if (values.size() >= 30) {
    values[values.size() / 2] = -0.0f;
    values[values.size() / 3] = std::numeric_limits<float>::infinity();
    values[values.size() / 5] = std::numeric_limits<float>::denorm_min();
  }
  return values;
}

class Axpy final : public Task {
 public:
  Axpy() : Task("05_coalescing", "axpy") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int n = sizes[0];
    const float a = (seed % 2 ? 1.5f : -1.5f) + 0.25f * float(seed % 3);
    const std::vector<float> x = random(n, 2 * seed), y = random(n, 2 * seed + 1);
    if (only_inputs())
      return {.buffers = {input("x", 1, n, x), input("y", 1, n, y), output<float>("z", 1, n, {})}, .scalars = {a}};
    std::vector<double> bound;
    // a x + y where `counts`, what was there before elsewhere.
    const auto z = [&](auto counts) {
      std::vector<double> values;
      for (int i = 0; i < n; ++i)
        values.push_back(counts(i) ? double{a} * double{x[std::size_t(i)]} + double{y[std::size_t(i)]} : NAN);
      return values;
    };
    for (int i = 0; i < n; ++i)
      bound.push_back(tilewise::error_bound(
          2, std::abs(double{a} * double{x[std::size_t(i)]}) + std::abs(double{y[std::size_t(i)]})));
    Problem p;
    p.buffers = {input("x", 1, n, x), input("y", 1, n, y),
                 output<float>("z", 1, n, z([](int) { return true; }), std::move(bound))};
    p.scalars = {a};
    const int whole = n / kThreads * kThreads;
    p.hypotheses.push_back(
        {fmt::format("the last {} words are left over: n is no multiple of the 512 threads", n - whole),
         z([=](int i) { return i < whole; })});
    p.hypotheses.push_back(
        {"each thread does the first of its words and no other", z([](int i) { return i < kThreads; })});
    p.hypotheses.push_back({"every block does the words of block 0", z([](int i) { return i % kThreads < kBlock; })});
    p.hypotheses.push_back(
        {"the loop of thread t still ends where its run did, at (t + 1) * share: the words of a thread now go on to n",
         z([=](int i) { return i < (i % kThreads + 1) * (n / kThreads); })});
    p.hypotheses.push_back({"the loop still ends at a run's length, share: the words of a thread now go on to n",
                            z([=](int i) { return i < n / kThreads; })});
    p.hypotheses.push_back({"the last word is missing", z([=](int i) { return i < n - 1; })});
    p.hypotheses.push_back({"the first word is missing", z([](int i) { return i > 0; })});
    p.least_flops = n;
    return p;
  }

  std::string where(const Place& at) const override {
    const int n = at.sizes[0], whole = n / kThreads * kThreads;
    if (at.col >= whole) return fmt::format("one of the last {} words: fewer than there are threads", n - whole);
    return fmt::format("word {} of the {} that 512 threads do at the same time", at.col % kThreads, kThreads);
  }

 private:
  static constexpr int kThreads = 512, kBlock = 128;
};

class Halve final : public Task {
 public:
  Halve() : Task("05_coalescing", "halve") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int rows = sizes[0], cols = sizes[1];
    const std::vector<float> values = random(rows * cols, seed);
    if (only_inputs())
      return {.buffers = {input("in", rows, cols, values), output<float>("out", rows / 2, cols / 2, {})}};
    // Word (i, j) of rows that are `pitch` words apart.
    const auto word = [&](int i, int j, int pitch) {
      const std::size_t k = std::size_t(i) * std::size_t(pitch) + std::size_t(j);
      return k < values.size() ? double{values[k]} : 0.0;
    };
    const auto out = [&](auto mean) {
      std::vector<double> m;
      for (int i = 0; i < rows / 2; ++i)
        for (int j = 0; j < cols / 2; ++j) m.push_back(mean(2 * i, 2 * j));
      return m;
    };
    const auto sum = [&](int i, int j, int pitch) {
      return word(i, j, pitch) + word(i, j + 1, pitch) + word(i + 1, j, pitch) + word(i + 1, j + 1, pitch);
    };
    Problem p;
    p.buffers = {
        input("in", rows, cols, values),
        output<float>(
            "out", rows / 2, cols / 2, out([&](int i, int j) { return sum(i, j, cols) / 4; }), out([&](int i, int j) {
              return tilewise::error_bound(4, std::abs(word(i, j, cols)) + std::abs(word(i, j + 1, cols)) +
                                                  std::abs(word(i + 1, j, cols)) + std::abs(word(i + 1, j + 1, cols))) /
                     4;
            }))};
    const auto mistake = [&](std::string what, auto mean) { p.hypotheses.push_back({std::move(what), out(mean)}); };
    mistake("the four words are added and not divided by four", [&](int i, int j) { return sum(i, j, cols); });
    mistake("the sum is divided by two", [&](int i, int j) { return sum(i, j, cols) / 2; });
    mistake("one word of the four is taken", [&](int i, int j) { return word(i, j, cols); });
    mistake("only the upper row's two words are taken",
            [&](int i, int j) { return (word(i, j, cols) + word(i, j + 1, cols)) / 2; });
    mistake("only the upper row's two words are added",
            [&](int i, int j) { return (word(i, j, cols) + word(i, j + 1, cols)) / 4; });
    mistake("only the left column's two words are taken",
            [&](int i, int j) { return (word(i, j, cols) + word(i + 1, j, cols)) / 2; });
    mistake("squares overlap: out[i][j] is the mean around in[i][j], not in[2i][2j]",
            [&](int i, int j) { return sum(i / 2, j / 2, cols) / 4; });
    mistake("row i of `out` is made of rows i and i + 1 of `in`, not 2i and 2i + 1",
            [&](int i, int j) { return sum(i / 2, j, cols) / 4; });
    mistake("column j of `out` is made of columns j and j + 1 of `in`, not 2j and 2j + 1",
            [&](int i, int j) { return sum(i, j / 2, cols) / 4; });
    if (cols % 2 != 0) {
      mistake("rows of `in` are taken to be cols - 1 words apart: its last column is in no mean, but it is there",
              [&](int i, int j) { return sum(i, j, cols - 1) / 4; });
      mistake("rows of `in` are taken to be cols + 1 words apart",
              [&](int i, int j) { return sum(i, j, cols + 1) / 4; });
    }
    p.least_flops = 3.0 * (rows / 2) * (cols / 2);
    p.least_load_bytes = 4.0 * (rows / 2 * 2) * (cols / 2 * 2);
    return p;
  }

  std::string where(const Place& at) const override {
    const int rows = at.sizes[0], cols = at.sizes[1], i = at.row, j = at.col;
    std::string text = fmt::format("it should be the mean of rows {} and {}, columns {} and {} of `in`", 2 * i,
                                   2 * i + 1, 2 * j, 2 * j + 1);
    if (i == rows / 2 - 1)
      text += fmt::format("; the last row of `out`{}", rows % 2 ? ", and one more row of `in` follows" : "");
    if (j == cols / 2 - 1)
      text += fmt::format("; the last column of `out`{}", cols % 2 ? ", and one more column of `in` follows" : "");
    if (cols % 2 && i > 0 && j == 0)
      text += "; does the thread of the last column of `in`, which is in no mean, write to the next row of `out`?";
    else if (cols % 2 && i > 0)
      text += fmt::format("; row {} of `in` begins {} words past a multiple of 8", 2 * i, 2 * i * cols % 8);
    return text;
  }
};

/// The part as a kernel sees it that stores aligned pieces of 16 bytes: the first `head` words of it come before them,
/// `pieces` of four words follow, and the rest is the tail. Piece i begins `shift` words past a multiple of 16 bytes
/// of `from`.
struct Part {
  int n, from_at, to_at;
  int head = std::min(n, (4 - to_at % 4) % 4);
  int pieces = (n - head) / 4;
  int shift = (from_at + head) % 4;
  int behind = (to_at + n) % 2 ? 9 : 0;  // words of y after the part: where there are none, nobody writes them back

  explicit Part(const Sizes& sizes) : n(sizes[0]), from_at(sizes[1]), to_at(sizes[2]) {}
  bool in_body(int k) const { return k >= head && k < head + 4 * pieces; }
};

class CopyPart final : public Task {
 public:
  CopyPart() : Task("05_coalescing", "copy_part") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const Part part(sizes);
    const int n = part.n, head = part.head, shift = part.shift;
    const int size = part.to_at + n + part.behind;                   // of y
    const std::vector<float> x = words(part.from_at + n, 2 * seed),  // nothing of ours lies beyond the part
        y = random(size, 2 * seed + 1);
    if (only_inputs()) return {.buffers = {input("x", 1, part.from_at + n, x), in_place("y", 1, size, y, {})}};
    const auto before = [&](int k) { return double{y[std::size_t(part.to_at + k)]}; };
    const auto from = [&](int k) {
      k = std::clamp(k, -part.from_at, n - 1);
      return double{x[std::size_t(part.from_at + k)]};
    };
    const auto to = [&](auto word) {
      std::vector<double> values(y.begin(), y.end());
      for (int k = 0; k < n; ++k) values[std::size_t(part.to_at + k)] = word(k);
      return values;
    };
    Problem p;
    p.buffers = {input("x", 1, part.from_at + n, x), in_place("y", 1, size, y, to([&](int k) { return from(k); }))};
    p.least_load_bytes = p.least_store_bytes = 4.0 * n;
    const auto mistake = [&](std::string what, auto word) { p.hypotheses.push_back({std::move(what), to(word)}); };
    if (shift != 0) {
      mistake(
          fmt::format("every word comes from {} too far to the left: `from` was rounded down to a multiple of 16 bytes",
                      shift == 1 ? "one word" : fmt::format("{} words", shift)),
          [&](int k) { return part.in_body(k) ? from(k - shift) : from(k); });
      mistake(
          "the last lane of every warp takes words of its own piece for those of the next: there is no lane 32 to "
          "ask, and __shfl_down_sync gives it its own",
          [&](int k) {
            const int piece = (k - head) / 4, w = (k - head) % 4 + shift;
            return part.in_body(k) && piece % 32 == 31 && w >= 4 ? from(k - 4) : from(k);
          });
      mistake("all words are rotated within their piece: those that belong to the next piece come from this one",
              [&](int k) { return part.in_body(k) && (k - head) % 4 + shift >= 4 ? from(k - 4) : from(k); });
    }
    mistake("the tail is missing: the words after the last whole piece of 16 bytes",
            [&](int k) { return k >= head + 4 * part.pieces ? before(k) : from(k); });
    mistake("the head is missing: the words before the first piece of 16 bytes",
            [&](int k) { return k < head ? before(k) : from(k); });
    mistake("head and tail are missing", [&](int k) { return part.in_body(k) ? from(k) : before(k); });
    mistake("the last word is missing", [&](int k) { return k < n - 1 ? from(k) : before(k); });
    return p;
  }

  std::string where(const Place& at) const override {
    const Part part(at.sizes);
    const int k = at.col - part.to_at;
    if (k < 0) return fmt::format("this is before to[0], which is y[{}]: it must stay as it was", part.to_at);
    if (k >= part.n)
      return fmt::format("this is past to[n - 1], which is y[{}]: it must stay as it was", part.to_at + part.n - 1);
    const std::string word = fmt::format("this is to[{}]", k);
    if (k < part.head)
      return word + fmt::format(", in the head: the first piece of 16 bytes begins at to[{}]", part.head);
    if (!part.in_body(k)) return word + ", in the tail: less than 16 bytes are left";
    const int piece = (k - part.head) / 4;
    if (part.shift == 0) return word + fmt::format(", in piece {} of 16 bytes; `from` is aligned like `to`", piece);
    const int second = part.head - part.shift + 4 * (piece + 1);  // where the second of the two pieces begins
    return word + fmt::format(
                      ", in piece {} of 16 bytes; its words begin {} words past a multiple of 16 bytes of `from`, "
                      "so they lie in two pieces there{}",
                      piece, part.shift,
                      second + 4 > part.n ? ". The second one ends past from[n - 1]: read only your words of it" : "");
  }
};

const Axpy axpy;
const Halve halve;
const CopyPart copy_part;

}  // namespace
