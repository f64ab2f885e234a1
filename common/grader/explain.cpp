#include "explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "case.hpp"
#include "tilewise/compare.hpp"

namespace tilewise::grader {
namespace {

/// "row 5", "rows 5 to 7".
std::string range(const char* what, const std::size_t (&ends)[2]) {
  return ends[0] == ends[1] ? fmt::format("{} {}", what, ends[0]) : fmt::format("{}s {} to {}", what, ends[0], ends[1]);
}

bool right(const Values& got, std::size_t i, double expected, double bound) {
  if (std::holds_alternative<std::vector<double>>(got))
    return element_ok(element_of(got, i), expected, bound, std::numeric_limits<double>::max());
  return element_ok(element_of(got, i), expected, bound);
}

std::string number(const Values& like, double v) {
  const bool whole = holds_integers(like) || (v == std::floor(v) && std::abs(v) < 1e15);
  return std::isnan(v) ? "nan" : fmt::format(fmt::runtime(whole ? "{:.0f}" : "{:.6g}"), v);
}

/// Row and column of the word at [i].
std::pair<std::size_t, std::size_t> row_and_column(const Buffer& b, std::size_t i) {
  const std::size_t length = std::size_t(b.by_columns ? b.rows : b.cols);
  return b.by_columns ? std::pair{i % length, i / length} : std::pair{i / length, i % length};
}

std::ptrdiff_t outputs_of(const Problem& p) {
  return std::count_if(p.buffers.begin(), p.buffers.end(), [](const Buffer& b) { return is_result(b); });
}

/// A wrong element, and the one whose value it holds.
struct Move {
  std::size_t to, from;
};

/// Of most wrong elements; none where that is said of too few of them.
std::vector<Move> find_moves(const Buffer& out, const Values& got, const std::vector<std::size_t>& wrong,
                             double tolerance) {
  using Element = std::pair<double, std::size_t>;
  std::vector<Element> sorted;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (std::isfinite(out.expected[i])) sorted.emplace_back(out.expected[i], i);
  std::sort(sorted.begin(), sorted.end());
  std::vector<Move> moves;
  const std::size_t step = std::max<std::size_t>(1, wrong.size() / 200);
  std::size_t looked_at = 0;
  for (std::size_t w = 0; w < wrong.size(); w += step) {
    const double v = element_of(got, wrong[w]);
    if (!std::isfinite(v)) continue;
    ++looked_at;
    const auto low = std::lower_bound(sorted.begin(), sorted.end(), Element{v - tolerance, 0});
    // Where two may be meant, neither is.
    if (low == sorted.end() || low->first > v + tolerance) continue;
    if (low + 1 == sorted.end() || (low + 1)->first > v + tolerance) moves.push_back({wrong[w], low->second});
  }
  if (moves.size() < 3 || moves.size() * 4 < looked_at * 3) moves.clear();
  return moves;
}

/// The rule that all these follow; "" where there is none.
std::string rule_of(const Buffer& out, const std::vector<Move>& moves) {
  const auto all = [&](auto is) {
    return std::all_of(moves.begin(), moves.end(), [&](const Move& m) {
      const auto [row, column] = row_and_column(out, m.to);
      const auto [from_row, from_column] = row_and_column(out, m.from);
      return is(std::ptrdiff_t(row), std::ptrdiff_t(column), std::ptrdiff_t(from_row), std::ptrdiff_t(from_column));
    });
  };
  const auto [row, column] = row_and_column(out, moves[0].to);
  const auto [from_row, from_column] = row_and_column(out, moves[0].from);
  const auto down = std::ptrdiff_t(from_row) - std::ptrdiff_t(row),
             along = std::ptrdiff_t(from_column) - std::ptrdiff_t(column);
  if (all([&](auto r, auto c, auto fr, auto fc) { return fr - r == down && fc - c == along; })) {
    const auto words = [](std::ptrdiff_t n, const char* what) {
      return fmt::format("{} {}{} {}", std::abs(n), what, std::abs(n) == 1 ? "" : "s", n > 0 ? "further on" : "back");
    };
    return ": always " + (out.rows == 1 ? words(along, "element")
                          : down == 0   ? words(along, "column")
                          : along == 0  ? words(down, "row")
                                        : words(down, "row") + " and " + words(along, "column"));
  }
  if (all([](auto r, auto c, auto fr, auto fc) { return r == fc && c == fr; }))
    return ": rows and columns are exchanged";
  for (const std::ptrdiff_t tile : {32, 16, 8, 64}) {
    if (all([=](auto r, auto c, auto fr, auto fc) {
          return fr == r / tile * tile + c % tile && fc == c / tile * tile + r % tile;
        }))
      return fmt::format(": within each tile of {0} x {0}, rows and columns are exchanged", tile);
    if (all([=](auto r, auto c, auto fr, auto fc) {
          return fr == c / tile * tile + r % tile && fc == r / tile * tile + c % tile;
        }))
      return fmt::format(": whole tiles of {0} x {0} are exchanged, as if blockIdx.x and blockIdx.y were", tile);
  }
  return "";
}

/// "C[0][1] holds what belongs at C[1][0]", where most wrong elements hold what belongs elsewhere; else "".
std::string moved(const Buffer& out, const Values& got, const std::vector<std::size_t>& wrong, double tolerance) {
  const std::vector<Move> moves = find_moves(out, got, wrong, tolerance);
  if (moves.empty()) return "";
  const std::string rule = rule_of(out, moves);
  std::string text;
  for (std::size_t n = 0; n < std::min<std::size_t>(rule.empty() ? 3 : 1, moves.size()); ++n) {
    const Move& m = moves[n * (moves.size() - 1) / 2];
    text += fmt::format("{}{} holds what belongs at {}", n ? ", " : "", element(out, m.to), element(out, m.from));
  }
  return "the wrong elements hold the values of others: " + text + rule;
}

/// Which elements of an output are wrong.
struct Wrong {
  std::vector<std::size_t> all;
  std::size_t untouched = 0, unchanged = 0;  // of them, still holding what was there before
};

Wrong find_wrong(const Problem& p, const Buffer& out, const Values& got) {
  Wrong wrong;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (right(p, out, got, i)) continue;
    wrong.all.push_back(i);
    if (out.use == Use::output) wrong.untouched += is_poison(got, i);
    if (out.use == Use::in_place) wrong.unchanged += element_of(got, i) == element_of(out.values, i);
  }
  return wrong;
}

std::string first_of(const Wrong& wrong, const Problem& p, const Buffer& out, const Values& got) {
  const std::size_t first = wrong.all.front();
  const bool not_set = out.use == Use::output && is_poison(got, first);
  return fmt::format("{} of {} elements{} {}: expected {}, got {}", wrong.all.size(), out.size(),
                     outputs_of(p) > 1 ? " of " + out.name : "",
                     (wrong.all.size() == 1 ? "is wrong, " : "are wrong; the first is ") + element(out, first),
                     number(got, out.expected[first]),
                     not_set ? "what was there before" + std::string(holds_integers(got) ? "" : " (nan)")
                             : number(got, element_of(got, first)));
}

/// Elements that nobody wrote; "" where all were.
std::string about_unwritten(const Wrong& wrong, const Buffer& out) {
  if (out.use == Use::in_place && wrong.unchanged == wrong.all.size())
    return fmt::format("the wrong elements of {} are what they were before", out.name);
  if (wrong.untouched == out.size())
    return out.size() == 1
               ? out.name + " was never written, or added to instead of set"
               : fmt::format("no element of {} was set: none was written, or each was added to what was there",
                             out.name);
  if (wrong.untouched == wrong.all.size())
    return fmt::format("{} never written, or added to instead of set",
                       wrong.untouched == 1 ? "it was" : "all the wrong ones were");
  if (wrong.untouched > 0)
    return fmt::format("{} of the wrong elements were never written, or added to instead of set", wrong.untouched);
  return "";
}

/// The rows and columns that all wrong elements lie in; "" where that says nothing.
std::string about_region(const Wrong& wrong, const Buffer& out) {
  if (wrong.all.size() == out.size() || out.rows <= 1) return "";
  std::size_t rows[2] = {std::size_t(out.rows), 0}, columns[2] = {std::size_t(out.cols), 0};
  for (std::size_t i : wrong.all) {
    const auto [row, column] = row_and_column(out, i);
    rows[0] = std::min(rows[0], row), rows[1] = std::max(rows[1], row);
    columns[0] = std::min(columns[0], column), columns[1] = std::max(columns[1], column);
  }
  if (rows[1] - rows[0] + 1 == std::size_t(out.rows) && columns[1] - columns[0] + 1 == std::size_t(out.cols)) return "";
  return "all wrong elements lie in " + range("row", rows) + " and " + range("column", columns);
}

/// The mistake that makes exactly this of all elements; "" where none does.
std::string matching_mistake(const Problem& p, const Buffer& out, const Values& got, double widest) {
  for (const Hypothesis& h : p.hypotheses) {
    if (h.output.empty() ? h.values.size() != out.size() : h.output != out.name) continue;
    bool matches = true, differs = false;
    for (std::size_t i = out.margin; i + out.margin < out.size() && matches; ++i) {
      matches = right(got, i, h.values[i], 2 * widest + 1e-30);
      differs = differs || !element_ok(h.values[i], out.expected[i], 4 * widest);
    }
    if (matches && differs) return h.mistake;
  }
  return "";
}

}  // namespace

bool right(const Problem& p, const Buffer& b, const Values& got, std::size_t i) {
  if (i < b.margin || i >= b.size() - b.margin) return true;
  const bool moved = p.least_flops == 0 && b.bound.empty();
  if (moved && std::isnan(b.expected[i]) && std::holds_alternative<std::vector<float>>(got)) {
    // All its bits. The NaNs among inputs are signalling ones: what computes with one makes it a quiet one, here and on a GPU, and
    // so does the conversion to double that `expected` has been through.
    constexpr std::uint32_t kQuiet = 1u << 22;
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(b.expected[i]));
    return std::bit_cast<std::uint32_t>(std::get<std::vector<float>>(got)[i]) == (bits & ~kQuiet);
  }
  if (moved && b.expected[i] == 0 && std::signbit(element_of(got, i)) != std::signbit(b.expected[i])) return false;
  return right(got, i, b.expected[i], b.bound.empty() ? 0 : b.bound[i]);
}

std::string element(const Buffer& b, std::size_t i) {
  const auto [row, column] = row_and_column(b, i);
  if (b.by_columns) return fmt::format("{}({}, {})", b.name, row, column);
  return b.rows == 1 ? fmt::format("{}[{}]", b.name, i) : fmt::format("{}[{}][{}]", b.name, row, column);
}

Explanation explain_wrong(const Task& task, const Sizes& sizes, const Problem& p, const Buffer& out,
                          const Values& got) {
  const Wrong wrong = find_wrong(p, out, got);
  Explanation c;
  c.what = first_of(wrong, p, out, got);
  const auto [row, column] = row_and_column(out, wrong.all.front());
  for (const std::string& note :
       {task.where({sizes, p, out, int(row), int(column)}), about_unwritten(wrong, out), about_region(wrong, out)})
    if (!note.empty()) c.notes.push_back(note);
  // A mistake moves values from one element to another, rounding errors with them: the widest bound judges all.
  const double widest = out.bound.empty() ? 0 : *std::max_element(out.bound.begin(), out.bound.end());
  if (const std::string mistake = matching_mistake(p, out, got, widest); !mistake.empty())
    c.notes.push_back("every element is what comes out when " + mistake);
  else if (wrong.untouched < out.size())
    c.guess = [&task, sizes, p, out, got, all = wrong.all, widest] {
      const std::string guess = task.guess(sizes, p, out, got);
      return guess.empty() ? moved(out, got, all, 2 * widest) : guess;
    };
  return c;
}

}  // namespace tilewise::grader
