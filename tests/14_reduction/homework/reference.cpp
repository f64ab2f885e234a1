// The grader's half of the homework of chapter 14: inputs, expected results, and the results of common mistakes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "grader/task.hpp"
#include "tilewise/compare.hpp"
#include "tilewise/random.hpp"

namespace {

using namespace tilewise::grader;
using Index = std::size_t;
using Doubles = std::vector<double>;
using Floats = std::vector<float>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Elements that a warp, a block or a float4 takes at a time.
constexpr int kChunks[] = {4, 32, 64, 128, 256, 512, 1024};

/// Where those end that are looked at, when what is left over, or all but the first of these, is not: they rise, up to n.
std::vector<int> ends_of(int n) {
  std::vector<int> ends{n};
  if (n > 1) ends.push_back(n - 1);
  for (const int chunk : kChunks) {
    ends.push_back(n / chunk * chunk);
    if (n > chunk) ends.push_back(chunk);
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

// ------------------------------------------------------------------------------------------------ least, largest, count

struct Known {
  double least = kInfinity, largest = -kInfinity, count = 0;
};

/// What is known of the elements from `begin` to in front of each of `ends`, which rise.
std::vector<Known> known(const Floats& x, int begin, const std::vector<int>& ends) {
  std::vector<Known> at_end;
  Known k;
  int i = begin;
  for (const int end : ends) {
    for (; i < end; ++i) {
      const double v = double{x[Index(i)]};
      if (std::isnan(v)) continue;
      k.least = std::min(k.least, v), k.largest = std::max(k.largest, v), ++k.count;
    }
    at_end.push_back(k);
  }
  return at_end;
}

class MinMaxCount final : public Task {
 public:
  MinMaxCount() : Task("14_reduction", "min_max_count") {}

  bool same_bits() const override { return true; }

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int n = sizes[0], nans = std::min(sizes[1], n);
    tilewise::Random random(seed);
    const auto below = [&](int most) { return int(random.below(std::uint64_t(most))); };
    // Numbers of both signs, all below 0, or all above it: what a search begins with shows.
    const auto kind = seed % 3;
    Floats x;
    for (int i = 0; i < n; ++i) {
      const float v = random.uniform();
      x.push_back(kind == 0 ? 50 * v : kind == 1 ? -60 + 30 * v : 60 + 30 * v);
    }
    // NaNs: the first element, the last, and anywhere.
    for (int left = nans; left > 0; --left) {
      int at = left == nans && seed % 2 == 0 ? 0 : left == nans - 1 ? n - 1 : below(n);
      while (std::isnan(x[Index(at)])) at = (at + 1) % n;
      x[Index(at)] = std::numeric_limits<float>::quiet_NaN();
    }
    // The least and the largest lie where something may be left out: at both ends, or anywhere.
    if (n - nans >= 2) {
      const auto number_from = [&](int at, int step) {
        while (std::isnan(x[Index(at)])) at = (at + step + n) % n;
        return at;
      };
      const int first = number_from(0, 1), last = number_from(n - 1, -1);
      int low = seed % 4 == 0 ? first : seed % 4 == 1 ? last : number_from(below(n), 1);
      int high = seed % 4 == 0 ? last : seed % 4 == 1 ? first : seed % 4 == 2 ? last : number_from(below(n), 1);
      if (low == high) high = low == first ? last : first;
      x[Index(low)] = kind == 2 ? 1.5f : -99.5f;
      x[Index(high)] = kind == 1 ? -1.5f : 99.5f;
      if (seed % 5 == 4) x[Index(low)] = -std::numeric_limits<float>::infinity();
    }

    const std::vector<std::int32_t> zero(1);
    Problem p;
    p.buffers = {input("x", 1, n, x),
                 output<float>("range", 1, 2, {}),
                 output<std::int32_t>("count", 1, 1, {}),
                 scratch<float>("parts", 1, 1024),
                 scratch<std::int32_t>("part_counts", 1, 512),
                 in_place("arrived", 1, 1, zero, {})};
    if (only_inputs()) return p;
    const Known right = known(x, 0, {n})[0];
    p.buffers[1].expected = {right.least, right.largest};
    p.buffers[1].bound = {0, 0};
    p.buffers[2].expected = {right.count};
    p.buffers[5].expected = {0};
    p.least_load_bytes = 4.0 * n;  // `arrived` may be touched by atomics alone, or not at all
    p.least_store_bytes = 12;

    const auto of_range = [&](std::string mistake, double least, double largest) {
      p.hypotheses.push_back({std::move(mistake), {least, largest}, "range"});
    };
    const auto of_count = [&](std::string mistake, double count) {
      p.hypotheses.push_back({std::move(mistake), {count}, "count"});
    };
    const auto add = [&](const std::string& mistake, const Known& k) {
      of_range(mistake, k.least, k.largest);
      of_count(mistake, k.count);
    };
    of_range("a NaN spoils the result: it is to be left out", kNan, kNan);
    of_count("NaNs are counted, too", n);
    of_range(
        "a search begins with 0 or next to it, at FLT_MIN, though all numbers may lie on the other side: what is the "
        "least of none?",
        std::min(0.0, right.least), std::max(0.0, right.largest));
    constexpr double kLargest = double{std::numeric_limits<float>::max()};
    of_range("the searches begin with FLT_MAX and -FLT_MAX: where there is no number, infinities are asked for",
             std::min(kLargest, right.least), std::max(-kLargest, right.largest));
    of_range("the two are exchanged: the least is range[0]", right.largest, right.least);
    const std::vector<int> cuts = ends_of(n);
    const std::vector<Known> before = known(x, 0, cuts);
    const auto in_front_of = [&](int end) {
      return before[Index(std::lower_bound(cuts.begin(), cuts.end(), end) - cuts.begin())];
    };
    for (const int chunk : kChunks) {
      if (n % chunk != 0)
        add(fmt::format("the last {} elements are missing, after the last full {}", n % chunk, chunk),
            in_front_of(n / chunk * chunk));
      if (n > chunk) add(fmt::format("only the first {} elements are looked at", chunk), in_front_of(chunk));
    }
    if (n > 1) {
      add("the first element is missing", known(x, 1, {n})[0]);
      add("the last element is missing", in_front_of(n - 1));
    }
    of_count("each number is counted twice", 2 * right.count);
    of_count("nothing is counted", 0);
    return p;
  }

  std::string where(const Place& at) const override {
    const int n = at.sizes[0];
    const auto& x = std::get<Floats>(at.problem.buffers[0].values);
    const auto place = [&](double value, const char* what) {
      for (Index i = 0; i < x.size(); ++i)
        if (double{x[i]} == value)
          return fmt::format("the {} number is x[{}]{}", what, i,
                             i + 1 == x.size() ? ", the last element"
                             : i == 0          ? ""
                                               : fmt::format(", {} elements before the end", x.size() - i));
      return std::string("there is no number among the elements");
    };
    if (at.output.name == "range")
      return place(at.problem.buffers[1].expected[Index(at.col)], at.col == 0 ? "least" : "largest");
    if (at.output.name == "count")
      return fmt::format("{} of the {} elements {} NaN{}", std::min(at.sizes[1], n), n,
                         at.sizes[1] == 1 ? "is a" : "are", at.sizes[1] == 1 ? "" : "s");
    return at.output.name == "arrived" ? "the counter must be 0 again when the work is done" : "";
  }
};

// ------------------------------------------------------------------------------------------------ log sum exp

class RowLogSumExp final : public Task {
 public:
  RowLogSumExp() : Task("14_reduction", "row_log_sum_exp") {}

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int M = sizes[0], N = sizes[1];
    tilewise::Random random(seed);
    Floats A;
    A.reserve(Index(M) * Index(N));
    for (int i = 0; i < M; ++i) {
      const auto kind = kind_of(i, seed);
      const Index begin = A.size();
      const float step = 20.0f / float(N);
      for (int j = 0; j < N; ++j) {
        const float v = random.uniform();
        const bool masked = kind == 3 && (j == 0 || random.below(2) == 0);
        A.push_back(masked      ? -std::numeric_limits<float>::infinity()
                    : kind == 1 ? 500 + 3 * v
                    : kind == 2 ? -500 + 3 * v
                    : kind == 4 ? -std::numeric_limits<float>::infinity()
                    : kind == 5 ? float(j) * step + v * step
                    : kind == 6 ? -float(j) * step + v * step
                    : kind == 8 ? 10000 * v
                                : v);
      }
      if (kind == 3) A.back() = 1.5f;
      if (kind == 7) A.back() = 9 + random.uniform();  // e^9 weighs as much as 8,000 others
      if (kind == 0) A[begin] = 9 + random.uniform();
    }
    if (only_inputs()) return {.buffers = {input("A", M, N, A), output<float>("L", 1, M, {})}};

    const auto element = [&](int i, int j) { return double{A[Index(i) * Index(N) + Index(j)]}; };
    // Of each row the largest element, the sum of all exp(element - largest), and what `bound` needs.
    Doubles tops, sums, expected, bound;
    for (int i = 0; i < M; ++i) {
      double top = -kInfinity, sum = 0, size = 0;
      for (int j = 0; j < N; ++j) top = std::max(top, element(i, j));
      for (int j = 0; j < N; ++j) {
        const double e = element(i, j);
        if (e == -kInfinity) continue;
        const double term = std::exp(e - top);
        sum += term, size += term * (std::abs(top - e) + std::abs(e) + std::abs(top));
      }
      tops.push_back(top), sums.push_back(sum), expected.push_back(top + std::log(sum));
      if (top == -kInfinity) {
        bound.push_back(0);
        continue;
      }
      // What a sum of N terms may be off by, relative to itself, in whatever order it is made: each term takes part in at most N joins, of
      // which each adds (1 rounding) and may scale by an exp() that is good to 2 units in the last place (4 roundings) with a product (1).
      // What exp() is given is rounded, too: relative to a term, that is the size of its argument, and with exp2() of multiples of
      // log2(e) that of the element. The arguments of a term's scalings add up to its distance from the top.
      const double relative = tilewise::error_bound(6 * Index(N) + 40, 1) + 4 * 0x1p-24 * size / sum;
      // Then the logarithm, good to two units in the last place, and the addition of the top.
      bound.push_back(relative / (1 - std::min(0.5, relative)) +
                      0x1p-24 * (4 * std::abs(std::log(sum)) + 2 * std::abs(expected.back())));
    }
    // For each row and each of these ends: the result of what stands in front of it.
    const std::vector<int> cuts = ends_of(N);
    const auto before = [&](int begin) {
      std::vector<Doubles> results(cuts.size());
      for (int i = 0; i < M; ++i) {
        double top = -kInfinity, sum = 0;
        int j = begin;
        for (Index c = 0; c < cuts.size(); ++c) {
          for (; j < cuts[c]; ++j) {
            const double e = element(i, j);
            if (e > top)
              sum = sum * std::exp(top - e) + 1, top = e;
            else if (e > -kInfinity)
              sum += std::exp(e - top);
          }
          results[c].push_back(top + std::log(sum));
        }
      }
      return results;
    };
    Problem p;
    p.buffers = {input("A", M, N, A), output<float>("L", 1, M, expected, bound)};
    p.least_flops = 0.5 * M * std::max(0, N - 1);  // -infinity may be skipped

    const auto add = [&](std::string mistake, Doubles values) {
      p.hypotheses.push_back({std::move(mistake), std::move(values), "L"});
    };
    const auto each = [&](auto f) {
      Doubles values;
      for (int i = 0; i < M; ++i) values.push_back(f(i, tops[Index(i)], sums[Index(i)]));
      return values;
    };
    // In float: exp() above 88.7 is infinity, and below -103.9 it is 0.
    const auto as_float = [](double log) { return log > 88.72 ? kInfinity : log < -103.9 ? -kInfinity : log; };
    add("the largest element isn't subtracted before exp(): exp(89) is infinity in float, and exp(-104) is 0",
        each([&](int i, double, double) { return as_float(expected[Index(i)]); }));
    add("the largest element isn't added again at the end: it is only the logarithm of the scaled sum",
        each([](int, double, double s) { return std::log(s); }));
    add("the logarithm is missing: it is the scaled sum and the largest element",
        each([](int, double top, double s) { return top + s; }));
    add("it is the largest element of the row, and nothing else", each([](int, double top, double) { return top; }));
    add("the search for the largest element begins with 0: in a row of which all are far below 0, exp(a - 0) is 0",
        each([&](int i, double top, double) { return top >= 0 ? expected[Index(i)] : as_float(expected[Index(i)]); }));
    add("a row that is all -infinity gives a NaN: -infinity less -infinity is one. What should exp(-infinity) add?",
        each([&](int i, double top, double) { return top > -kInfinity ? expected[Index(i)] : kNan; }));
    for (const bool all_too : {true, false})
      add(fmt::format("each row that has a -infinity{} gives a NaN: -infinity less -infinity is one. Where are two of "
                      "them subtracted?",
                      all_too ? "" : ", but isn't all of it,"),
          each([&](int i, double top, double) {
            for (int j = 0; j < N && (all_too || top > -kInfinity); ++j)
              if (element(i, j) == -kInfinity) return kNan;
            return expected[Index(i)];
          }));
    {
      Doubles unscaled;
      for (int i = 0; i < M; ++i) {
        double finite = 0;
        for (int j = 0; j < N; ++j) finite += element(i, j) > -kInfinity;
        unscaled.push_back(tops[Index(i)] + std::log(finite));
      }
      add("each element counts as much as the largest: sums that belong to different largest elements are added as "
          "they are",
          std::move(unscaled));
    }
    if (N == 1) return p;
    const std::vector<Doubles> results = before(0);
    const auto in_front_of = [&](int end) {
      return results[Index(std::lower_bound(cuts.begin(), cuts.end(), end) - cuts.begin())];
    };
    for (const int chunk : kChunks) {
      if (N % chunk != 0)
        add(fmt::format("the last {} elements of each row are missing, after the last full {}", N % chunk, chunk),
            in_front_of(N / chunk * chunk));
      if (N > chunk)
        add(fmt::format("only the first {} elements of each row are in the sum", chunk), in_front_of(chunk));
    }
    add("the first element of each row is missing", before(1).back());
    add("the last element of each row is missing", in_front_of(N - 1));
    return p;
  }

  std::string where(const Place& at) const override {
    static constexpr const char* kKinds[] = {"the first element of this row is the largest by far",
                                             "the elements of this row are about 500: exp(500) is no float",
                                             "the elements of this row are about -500: exp(-500) is 0 in float",
                                             "half of this row is -infinity, and so is its first element",
                                             "all elements of this row are -infinity",
                                             "the elements of this row rise from 0 to 20",
                                             "the elements of this row fall from 0 to -20",
                                             "the last element of this row is the largest by far",
                                             "the elements of this row are -10,000 to 10,000"};
    // Which kind it is can be read off the expected value and the elements; the seed isn't known here.
    const auto& A = std::get<Floats>(at.problem.buffers[0].values);
    const int N = at.sizes[1];
    const Index begin = Index(at.col) * Index(N), end = begin + Index(N);
    const float first = A[begin], last = A[end - 1];
    const float top = *std::max_element(A.begin() + std::ptrdiff_t(begin), A.begin() + std::ptrdiff_t(end));
    const bool all = top == -std::numeric_limits<float>::infinity();
    const bool some = std::any_of(A.begin() + std::ptrdiff_t(begin), A.begin() + std::ptrdiff_t(end),
                                  [](float a) { return std::isinf(a); });
    if (N < 3) return all ? kKinds[4] : "";
    return all                                        ? kKinds[4]
           : some                                     ? kKinds[3]
           : top > 600 || top < -600                  ? kKinds[8]
           : top > 400                                ? kKinds[1]
           : top < -400                               ? kKinds[2]
           : first == top && top >= 8                 ? kKinds[0]
           : last == top && last < 10.1f && last >= 8 ? kKinds[7]
           : top > 12                                 ? kKinds[5]
           : last < -12                               ? kKinds[6]
                                                      : "";
  }

 private:
  /// The rows of a matrix are of nine kinds in turn; which one comes first depends on the seed.
  static std::uint64_t kind_of(int row, std::uint64_t seed) { return (std::uint64_t(row) + 2 * seed) % 9; }
};

const MinMaxCount min_max_count;
const RowLogSumExp row_log_sum_exp;

}  // namespace
