// The grader's half of the homework of chapter 15: inputs, expected results, and the results of common mistakes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "grader/task.hpp"
#include "tilewise/random.hpp"

namespace {

using namespace tilewise::grader;
using Index = std::size_t;
using Doubles = std::vector<double>;
using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;

// ------------------------------------------------------------------------------------------------ filter

/// (left + 2 middle + right) / 4 of each element; `before` and `after` stand in for the neighbours that are not there.
template <class Before, class After>
Doubles filtered(const Floats& x, Before before, After after) {
  const Index n = x.size();
  Doubles y;
  for (Index i = 0; i < n; ++i) {
    const double left = i > 0 ? double{x[i - 1]} : before(), right = i + 1 < n ? double{x[i + 1]} : after();
    y.push_back((left + 2 * double{x[i]} + right) / 4);
  }
  return y;
}

class Filter final : public Task {
 public:
  Filter() : Task("15_streams_and_graphs", "filter") {}

  bool same_bits() const override { return true; }

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int n = sizes[0], room = sizes[1];
    tilewise::Random random(seed);
    Floats x;
    for (int i = 0; i < n; ++i) x.push_back(10 * random.uniform());
    Problem p;
    p.own_streams = true;
    p.buffers = {pinned(input("in", 1, n, x)), pinned(output<float>("out", 1, n, {})),
                 scratch<float>("device", 1, room)};
    if (only_inputs()) return p;
    const auto none = [] { return 0.0; };
    const auto first = [&] { return double{x.front()}; };
    const auto last = [&] { return double{x.back()}; };
    Doubles bound;
    for (Index i = 0; i < Index(n); ++i)
      bound.push_back(3 * 0x1p-24 *
                      (std::abs(double{x[i > 0 ? i - 1 : i]}) + 2 * std::abs(double{x[i]}) +
                       std::abs(double{x[i + 1 < Index(n) ? i + 1 : i]})) /
                      4);
    p.buffers[1].expected = filtered(x, first, last);
    p.buffers[1].bound = std::move(bound);
    p.least_flops = 3.0 * n;
    if (n == 0) return p;
    const Doubles& right = p.buffers[1].expected;
    const auto add = [&](const char* mistake, Doubles values) { p.hypotheses.push_back({mistake, std::move(values)}); };
    add("zeros stand in for the neighbours that aren't there, at both ends: the elements themselves are asked for",
        filtered(x, none, none));
    add("the ends are each other's neighbours, as on a ring: the elements themselves are asked for",
        filtered(x, last, first));
    add("the numbers are copied, and not filtered", Doubles(x.begin(), x.end()));
    Doubles scaled = right;
    for (double& v : scaled) v *= 4;
    add("the sum isn't divided by 4", scaled);
    return p;
  }

  std::string where(const Place& at) const override {
    if (at.col == 0) return "it's the first of all, and has no left neighbour";
    if (at.col + 1 == at.sizes[0]) return "it's the last of all, and has no right neighbour";
    return fmt::format("its neighbours are in[{}] and in[{}]", at.col - 1, at.col + 1);
  }

  /// Where the borders of chunks are.
  std::string guess(const Sizes&, const Problem& p, const Buffer& output, const Values& got) const override {
    const auto& y = std::get<Floats>(got);
    std::vector<Index> wrong;
    for (Index i = 0; i < y.size(); ++i)
      if (!(std::abs(double{y[i]} - output.expected[i]) <= output.bound[i])) wrong.push_back(i);
    if (wrong.empty()) return "";
    if (wrong.size() == y.size() - wrong.front() && wrong.size() > 1 && wrong.size() < y.size())
      return fmt::format(
          "all from element {} on are wrong, and those before are right: are the last chunks missing, or "
          "do they lie elsewhere?",
          wrong.front());
    // Single elements, or two side by side, at equal distances.
    std::vector<Index> places;
    Index longest = 0, run = 0;
    for (Index k = 0; k < wrong.size(); ++k) {
      const bool goes_on = k > 0 && wrong[k] == wrong[k - 1] + 1;
      run = goes_on ? run + 1 : 1;
      longest = std::max(longest, run);
      if (!goes_on) places.push_back(wrong[k]);
    }
    bool even = places.size() > 1;
    for (Index k = 2; k < places.size(); ++k) even = even && places[k] - places[k - 1] == places[1] - places[0];
    static_cast<void>(p);
    if (longest > 2 || !even) return "";
    return fmt::format(
        "what is wrong lies {} elements apart, {}: these are the borders of chunks, where a neighbour belongs "
        "to another chunk and has to be brought, too",
        places[1] - places[0], longest == 2 ? "two side by side" : "one at a time");
  }
};

// ------------------------------------------------------------------------------------------------ rule 30

Ints after_step(const Ints& x) {
  const Index n = x.size();
  Ints y;
  for (Index i = 0; i < n; ++i) y.push_back(x[(i + n - 1) % n] ^ (x[i] | x[(i + 1) % n]));
  return y;
}

class Rule30 final : public Task {
 public:
  Rule30() : Task("15_streams_and_graphs", "rule_30") {}

  bool same_bits() const override { return true; }

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int n = sizes[0], steps = sizes[1];
    tilewise::Random random(seed);
    Ints x;
    for (int i = 0; i < n; ++i) x.push_back(static_cast<std::int32_t>(random.below(std::uint64_t{1} << 31)));
    Problem p;
    p.own_streams = true;
    p.buffers = {input("from", 1, n, x), output<std::int32_t>("to", 1, n, {}), scratch<std::int32_t>("work", 1, n)};
    if (only_inputs()) return p;
    for (int s = 0; s < steps; ++s) x = after_step(x);
    p.buffers[1].expected = Doubles(x.begin(), x.end());
    return p;
  }

  std::string where(const Place& at) const override {
    return fmt::format("its neighbours on the ring are {} and {}", (at.col + at.sizes[0] - 1) % at.sizes[0],
                       (at.col + 1) % at.sizes[0]);
  }

  /// After how many steps the state was this one.
  std::string guess(const Sizes& sizes, const Problem& p, const Buffer&, const Values& got) const override {
    Ints x = std::get<Ints>(p.buffers[0].values);
    const Ints& y = std::get<Ints>(got);
    for (int s = 0; s <= sizes[1] + 128; ++s, x = after_step(x))
      if (x == y && s != sizes[1])
        return fmt::format("it's the state after {} step{}, not after {}: {}", s, s == 1 ? "" : "s", sizes[1],
                           s == 0         ? "the input was copied"
                           : s > sizes[1] ? "how many are left over when so many are in a graph?"
                           : s + 1 < sizes[1]
                               ? "does each launch of the graph go on where the last one has stopped? It remembers the "
                                 "arguments of its steps. And are all launches there, and what is left over?"
                               : "is the first step, or the last one, missing?");
    return "";
  }
};

const Filter filter;
const Rule30 rule_30;

}  // namespace
