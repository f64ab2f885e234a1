/// @file
/// Which words a wrong matrix product has summed. A tutor who sees that an index of A goes by threadIdx.x where
/// threadIdx.y belongs says so; here all index expressions that a kernel with tiles is likely to contain are tried, for A
/// and for B, until one pair gives what came out.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "task.hpp"

namespace tilewise::grader {

/// C(i, j), the sum over k of A(i, k) B(k, j). Every matrix has one index that runs along memory; the other one's
/// stride is one of M, N and K.
struct ProductTask {
  int M, N, K;
  bool a_along_i;   ///< A(i, k) is at [k * M + i], else at [i * K + k]
  bool b_along_j;   ///< B(k, j) is at [k * N + j], else at [j * K + k]
  bool by_columns;  ///< how positions are written: [i + k * M] or [k * M + i]
};

namespace product {

/// One step of the sum for one element, in a kernel with tiles of `tile`.
struct Step {
  int i, j, k, tile;

  int ty() const { return i % tile; }
  int tx() const { return j % tile; }
  int kk() const { return k % tile; }
  int i0() const { return i - ty(); }
  int j0() const { return j - tx(); }
  int k0() const { return k - kk(); }
  int half() const { return tile / 2; }
};

struct Expression {
  const char* text;
  bool of_tile;  ///< means something only together with a tile
  bool with_k;   ///< changes from step to step
  int (*at)(const Step&);
};

// The first three are those of a right product.
inline constexpr std::array<Expression, 17> kExpressions{{
    {"i", false, false, [](const Step& s) { return s.i; }},
    {"j", false, false, [](const Step& s) { return s.j; }},
    {"k", false, true, [](const Step& s) { return s.k; }},
    {"i0 + tx", true, false, [](const Step& s) { return s.i0() + s.tx(); }},
    {"j0 + ty", true, false, [](const Step& s) { return s.j0() + s.ty(); }},
    {"k0 + ty", true, false, [](const Step& s) { return s.k0() + s.ty(); }},
    {"k0 + tx", true, false, [](const Step& s) { return s.k0() + s.tx(); }},
    {"i0 + kk", true, true, [](const Step& s) { return s.i0() + s.kk(); }},
    {"j0 + kk", true, true, [](const Step& s) { return s.j0() + s.kk(); }},
    {"kk", true, true, [](const Step& s) { return s.kk(); }},
    {"ty", true, false, [](const Step& s) { return s.ty(); }},
    {"tx", true, false, [](const Step& s) { return s.tx(); }},
    // Two elements of a thread, rows or columns half a tile apart.
    {"i0 + ty % (T / 2)", true, false, [](const Step& s) { return s.i0() + s.ty() % s.half(); }},
    {"j0 + tx % (T / 2)", true, false, [](const Step& s) { return s.j0() + s.tx() % s.half(); }},
    {"i0 + 2 * (ty % (T / 2)) + ty / (T / 2)", true, false,
     [](const Step& s) { return s.i0() + 2 * (s.ty() % s.half()) + s.ty() / s.half(); }},
    {"j0 + 2 * (tx % (T / 2)) + tx / (T / 2)", true, false,
     [](const Step& s) { return s.j0() + 2 * (s.tx() % s.half()) + s.tx() / s.half(); }},
    {"i0 + ty % (T / 2) + ty / (T / 2)", true, false,
     [](const Step& s) { return s.i0() + s.ty() % s.half() + s.ty() / s.half(); }},
}};

/// The word at [across * stride + along] of A or B.
struct Position {
  const Expression *across, *along;
  char stride;    // 'M', 'N' or 'K'
  int words = 0;  // that is
  int odd = 0;    // how far it is from being right

  bool of_tile() const { return across->of_tile || along->of_tile; }
  long long at(const Step& s) const { return static_cast<long long>(across->at(s)) * words + along->at(s); }
  /// As the contract writes it where the stride is right; else as an index.
  std::string text(const char* matrix, const Position& right, bool by_columns) const {
    if (stride == right.stride)
      return by_columns ? fmt::format("{}({}, {})", matrix, along->text, across->text)
                        : fmt::format("{}[{}][{}]", matrix, across->text, along->text);
    const std::string e = across->text;
    const std::string far = fmt::format("{} * {}", e.find('+') == std::string::npos ? e : "(" + e + ")", stride);
    return by_columns ? fmt::format("{}[{} + {}]", matrix, along->text, far)
                      : fmt::format("{}[{} + {}]", matrix, far, along->text);
  }
};

/// All positions, those first that differ least from the right one.
inline std::vector<Position> positions(const ProductTask& p, const Position& right) {
  std::vector<Position> all;
  std::vector<std::pair<char, int>> strides{{right.stride, right.words}};
  for (const auto& [name, words] : {std::pair{'M', p.M}, {'N', p.N}, {'K', p.K}})
    if (std::none_of(strides.begin(), strides.end(), [&, w = words](const auto& s) { return s.second == w; }))
      strides.emplace_back(name, words);
  for (const auto& [name, words] : strides)
    for (const Expression& across : kExpressions)
      for (const Expression& along : kExpressions) {
        if (!across.with_k && !along.with_k) continue;
        const auto odd = [](const Expression& e, const Expression& its) {
          return &e == &its ? 0 : e.of_tile ? 3 + static_cast<int>(&e - kExpressions.data()) / 12 : 2;
        };
        all.push_back({&across, &along, name, words,
                       odd(across, *right.across) + odd(along, *right.along) + (name == right.stride ? 0 : 3)});
      }
  std::stable_sort(all.begin(), all.end(), [](const Position& a, const Position& b) { return a.odd < b.odd; });
  return all;
}

/// What a programmer has probably done to read `is` where `right` belongs; "" where that is not plain.
inline std::string reason(const std::string& matrix, const Position& is, const Position& right) {
  const bool a = matrix == "A";
  const auto has = [&](std::string_view text) { return is.across->text == text || is.along->text == text; };
  const std::string tile = "the tile of " + matrix;
  const bool own_step = has("i0 + kk") || has("j0 + kk"), first = has("k0 + ty") || has("k0 + tx");
  if (own_step && first) return "where " + tile + " is filled or read, its two indices are exchanged";
  if (own_step && has("k"))
    return fmt::format("where {} is filled, both indices of {} go by the same one of threadIdx.x and threadIdx.y", tile,
                       matrix);
  if (has(a ? "i0 + tx" : "j0 + ty"))
    return fmt::format("{} is read by threadIdx.{} where threadIdx.{} belongs", tile, a ? "x" : "y", a ? "y" : "x");
  if (has(a ? "j0 + ty" : "i0 + tx"))
    return fmt::format("{} is filled from where blockIdx.{} says, and blockIdx.{} belongs there", tile, a ? "x" : "y",
                       a ? "y" : "x");
  if (has("kk")) return "k0 is left out: each tile is filled with the words of the first";
  if (has(a ? "ty" : "tx")) return fmt::format("blockIdx.{} is left out", a ? "y" : "x");
  if (has("i0 + ty % (T / 2)") || has("j0 + tx % (T / 2)"))
    return "both elements of a thread take the words of its first";
  if (is.stride != right.stride && is.across == right.across && is.along == right.along)
    return fmt::format("what lies {} words apart is taken to be {} words apart", right.stride, is.stride);
  return "";
}

/// The words at a position for all k; nothing where one of them lies outside.
inline bool fetch(const std::vector<float>& matrix, const Position& p, Step s, int K, std::vector<double>& words) {
  words.resize(static_cast<std::size_t>(K));
  for (s.k = 0; s.k < K; ++s.k) {
    const long long at = p.at(s);
    if (at < 0 || at >= static_cast<long long>(matrix.size())) return false;
    words[static_cast<std::size_t>(s.k)] = double{matrix[static_cast<std::size_t>(at)]};
  }
  return true;
}

inline double dot(const double* a, const double* b, std::size_t n) {
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

/// A product that came out wrong, and which of its elements are looked at.
template <class Place>
struct Looked {
  const ProductTask& p;
  const std::vector<float>&A, &B;
  const std::vector<double>& expected;
  double tolerance;
  const std::vector<float>& got;
  Place c;  // the place of an element of C
  const Position right_a = p.a_along_i ? Position{&kExpressions[2], &kExpressions[0], 'M', p.M}
                                       : Position{&kExpressions[0], &kExpressions[2], 'K', p.K},
                 right_b = p.b_along_j ? Position{&kExpressions[2], &kExpressions[1], 'N', p.N}
                                       : Position{&kExpressions[1], &kExpressions[2], 'K', p.K};
  std::vector<std::pair<int, int>> wrong = {}, looked_at = {};

  /// Wrong elements, and as many others, from all over C. False where there are too few.
  bool choose() {
    std::vector<std::pair<int, int>> others;
    for (int i = 0; i < p.M; ++i)
      for (int j = 0; j < p.N; ++j) {
        if (std::isnan(value(i, j))) continue;
        (std::abs(value(i, j) - expected[c(i, j)]) <= tolerance ? others : wrong).emplace_back(i, j);
      }
    const auto take = [&](const auto& from, std::size_t n) {
      for (std::size_t s = 1; s <= n && !from.empty(); ++s) looked_at.push_back(from[(s * 7919) % from.size()]);
    };
    take(wrong, 24);
    take(others, 12);
    return wrong.size() >= 8;
  }

  double value(int i, int j) const { return double{got[c(i, j)]}; }

  /// A wrong element that is not at an edge of its tile.
  std::pair<int, int> inner() const {
    return *std::max_element(wrong.begin(), wrong.end(), [](const auto& x, const auto& y) {
      const auto inner = [](const auto& at) { return at.first % 7 + at.second % 5 + (at.first % 16 > 1) * 20; };
      return inner(x) < inner(y);
    });
  }
};

constexpr int kTilesTried[] = {16, 32, 8};

/// Whether all elements looked at, as far as these words lie inside, are sums of them.
template <class Place>
bool explains(const Looked<Place>& l, const Position& at_a, const Position& at_b, int tile) {
  std::vector<double> left, right;
  int agreed = 0;
  for (const auto& [i, j] : l.looked_at) {
    if (!fetch(l.A, at_a, {i, j, 0, tile}, l.p.K, left) || !fetch(l.B, at_b, {i, j, 0, tile}, l.p.K, right)) continue;
    if (!(std::abs(dot(left.data(), right.data(), left.size()) - l.value(i, j)) <= l.tolerance)) return false;
    ++agreed;
  }
  return agreed >= 8;
}

/// Positions in A and B whose words add up to what is in C.
struct OtherWords {
  Position a, b;
  int tile, odd;
};

/// Those that differ least from the right ones. The first element narrows it down.
template <class Place>
std::optional<OtherWords> find_other_words(const Looked<Place>& l) {
  const std::vector<Position> all_a = positions(l.p, l.right_a), all_b = positions(l.p, l.right_b);
  const auto [i, j] = l.inner();
  std::optional<OtherWords> best;
  for (int tile : kTilesTried) {
    const auto words = [&, at_i = i, at_j = j](const std::vector<float>& matrix, const std::vector<Position>& all) {
      std::vector<std::pair<const Position*, std::vector<double>>> list;
      std::vector<double> row;
      for (const Position& at : all)
        if (fetch(matrix, at, {at_i, at_j, 0, tile}, l.p.K, row)) list.emplace_back(&at, row);
      return list;
    };
    const auto a = words(l.A, all_a), b = words(l.B, all_b);
    for (const auto& [at_a, words_a] : a) {
      for (const auto& [at_b, words_b] : b) {
        const int odd = at_a->odd + at_b->odd + (at_a->of_tile() || at_b->of_tile());
        if (odd == 0 || (best && best->odd <= odd)) continue;
        if (!(std::abs(dot(words_a.data(), words_b.data(), words_a.size()) - l.value(i, j)) <= l.tolerance)) continue;
        if (explains(l, *at_a, *at_b, tile)) best = OtherWords{*at_a, *at_b, tile, odd};
      }
    }
  }
  return best;
}

/// A guard that takes some of the right words for 0.
struct Guard {
  bool of_a;
  const Expression& index;
  int below;
};

/// Whether all elements looked at are the sums that it leaves, and it makes some of them wrong.
template <class Place>
bool explains(const Looked<Place>& l, const Guard& guard, int tile) {
  int agreed = 0, mended = 0;
  std::vector<double> left, right;
  for (const auto& [i, j] : l.looked_at) {
    Step s{i, j, 0, tile};
    fetch(l.A, l.right_a, s, l.p.K, left);
    fetch(l.B, l.right_b, s, l.p.K, right);
    for (s.k = 0; s.k < l.p.K; ++s.k)
      if (guard.index.at(s) >= guard.below) (guard.of_a ? left : right)[static_cast<std::size_t>(s.k)] = 0;
    const double sum = dot(left.data(), right.data(), left.size());
    if (!(std::abs(sum - l.value(i, j)) <= l.tolerance)) return false;
    ++agreed;
    mended += std::abs(sum - l.expected[l.c(i, j)]) > l.tolerance;
  }
  return agreed >= 8 && mended >= 4;
}

inline std::string tiles(int tile, const char* more) {
  return fmt::format(" (tiles of {}{}; i = i0 + ty is the row, j = j0 + tx the column, k = k0 + kk the step)", tile,
                     more);
}

/// The right words, but some of them taken for 0, by a guard that asks the wrong index or the wrong size; "" where none does.
template <class Place>
std::string what_a_guard_leaves_out(const Looked<Place>& l) {
  for (int tile : kTilesTried)
    for (const auto& [name, of_a, right] : {std::tuple{"A", true, &l.right_a}, std::tuple{"B", false, &l.right_b}})
      for (const Expression& index : kExpressions)
        for (const auto& [limit, below] : {std::pair{'M', l.p.M}, {'N', l.p.N}, {'K', l.p.K}})
          if (explains(l, Guard{of_a, index, below}, tile))
            return fmt::format(
                       "the sums are what comes out when {} counts only where {} < {}, and is 0 elsewhere: does the "
                       "guard ask the index that the word is fetched with?",
                       right->text(name, *right, l.p.by_columns), index.text, limit) +
                   (index.of_tile ? tiles(tile, "") : "");
  return "";
}

template <class Place>
std::string text_of(const Looked<Place>& l, const OtherWords& found) {
  std::string text, reasons;
  for (const auto& [name, is, should] : {std::tuple{"A", found.a, l.right_a}, std::tuple{"B", found.b, l.right_b}}) {
    if (is.odd == 0) continue;
    text += fmt::format("{}{} stands where {} belongs", text.empty() ? "" : ", and ",
                        is.text(name, should, l.p.by_columns), should.text(name, should, l.p.by_columns));
    if (const std::string why = reason(name, is, should); !why.empty()) reasons += (reasons.empty() ? "" : "; ") + why;
  }
  text = "the sums are what comes out when " + text + (reasons.empty() ? "" : ": " + reasons);
  if (found.a.of_tile() || found.b.of_tile())
    text += tiles(found.tile, text.find("(T / 2)") != std::string::npos ? " = T" : "");
  return text;
}

}  // namespace product

/// What was summed instead, in a tutor's words; "" where nothing fits, or sizes are too large to try. `c(i, j)` is the
/// place of an element of C.
template <class Place>
std::string what_was_summed(const ProductTask& p, const std::vector<float>& A, const std::vector<float>& B,
                            const std::vector<double>& expected, double tolerance, const std::vector<float>& got,
                            Place c) {
  if (p.M > 128 || p.N > 128 || p.K < 4 || p.K > 128) return "";
  product::Looked<Place> looked{p, A, B, expected, tolerance, got, c};
  if (!looked.choose()) return "";
  const auto other_words = product::find_other_words(looked);
  return other_words ? text_of(looked, *other_words) : what_a_guard_leaves_out(looked);
}

}  // namespace tilewise::grader
