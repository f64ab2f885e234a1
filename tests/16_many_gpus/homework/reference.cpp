// The grader's half of the homework of chapter 16: inputs, expected results, and the results of common mistakes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "grader/task.hpp"
#include "tilewise/random.hpp"

namespace {

using namespace tilewise::grader;
using Index = std::size_t;
using Doubles = std::vector<double>;
using Floats = std::vector<float>;

/// Where the d-th of `count` shares of `n` begins.
int begin_of(int d, int n, int count) { return int(std::int64_t{d} * n / count); }

std::string of_device(const char* name, int d) { return fmt::format("{}[{}]", name, d); }

// ------------------------------------------------------------------------------------------------ heat

/// A plate, and how it is shared out.
struct Plate {
  int height, width, devices;

  int first(int d) const { return begin_of(d, height, devices); }
  int rows(int d) const { return first(d + 1) - first(d); }
  Index size() const { return Index(height) * Index(width); }
  int device_of(int row) const {
    int d = 0;
    while (first(d + 1) <= row) ++d;
    return d;
  }
};

/// One step. `neighbour(row, other)`: the row that is taken for row `other` when row `row` is computed, and its values.
template <class Neighbour>
Doubles stepped(const Plate& plate, const Doubles& x, Neighbour neighbour) {
  Doubles y(x.size());
  const int w = plate.width;
  for (int row = 0; row < plate.height; ++row) {
    const double* const above = neighbour(row, row - 1);
    const double* const below = neighbour(row, row + 1);
    const double* const mine = &x[Index(row) * Index(w)];
    for (int col = 0; col < w; ++col) {
      const double left = mine[std::max(col - 1, 0)], right = mine[std::min(col + 1, w - 1)];
      y[Index(row) * Index(w) + Index(col)] = (above[col] + below[col] + left + right + 4 * mine[col]) / 8;
    }
  }
  return y;
}

enum class Mistake { none, alone, stale, late, ring, edge_kept };

/// What becomes of a plate, if everybody makes this mistake.
Doubles after(const Plate& plate, const Doubles& start, int steps, Mistake mistake = Mistake::none) {
  Doubles now = start, last = start;
  for (int s = 0; s < steps; ++s) {
    const auto row_of = [&](const Doubles& x, int row) { return &x[Index(row) * Index(plate.width)]; };
    const auto neighbour = [&](int row, int other) -> const double* {
      if (other < 0 || other >= plate.height)
        return row_of(now, mistake == Mistake::ring ? (other + plate.height) % plate.height : row);
      const int d = plate.device_of(row);
      if (plate.device_of(other) == d) return row_of(now, other);
      if (mistake == Mistake::alone) return row_of(now, row);
      if (mistake == Mistake::stale) return row_of(start, other);
      if (mistake == Mistake::late) return row_of(last, other);
      return row_of(now, other);
    };
    Doubles next = stepped(plate, now, neighbour);
    if (mistake == Mistake::edge_kept)
      for (int row = 0; row < plate.height; ++row)
        for (int col = 0; col < plate.width; ++col)
          if (row == 0 || row == plate.height - 1 || col == 0 || col == plate.width - 1)
            next[Index(row) * Index(plate.width) + Index(col)] = now[Index(row) * Index(plate.width) + Index(col)];
    last = std::move(now);
    now = std::move(next);
  }
  return now;
}

/// Device d's array: its rows, and rows that hold `around` before and after them.
template <class T>
std::vector<T> part_of(const Plate& plate, const Doubles& x, int d, T around) {
  std::vector<T> part(Index(plate.width), around);
  const auto begin = x.begin() + std::ptrdiff_t(plate.first(d)) * plate.width;
  part.insert(part.end(), begin, begin + std::ptrdiff_t(plate.rows(d)) * plate.width);
  part.insert(part.end(), Index(plate.width), around);
  return part;
}

constexpr double kLargest = 10;

class Heat final : public Task {
 public:
  Heat() : Task("16_many_gpus", "heat") {}

  bool same_bits() const override { return true; }

  std::vector<std::uint64_t> lengths(const Sizes& sizes) const override {
    const Plate plate{sizes[0], sizes[1], sizes[3]};
    std::vector<std::uint64_t> all;
    for (int kind = 0; kind < 3; ++kind)
      for (int d = 0; d < plate.devices; ++d)
        all.push_back(std::uint64_t(plate.rows(d) + 2) * std::uint64_t(plate.width));
    return all;
  }

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const Plate plate{sizes[0], sizes[1], sizes[3]};
    const int steps = sizes[2];
    tilewise::Random random(seed);
    Doubles start;
    for (Index i = 0; i < plate.size(); ++i) start.push_back(double{float(kLargest) * random.uniform()});
    Problem p;
    p.own_streams = true;
    p.devices = plate.devices;
    // Each step adds a rounding error of its own; those there were before are only averaged.
    const double bound = 6 * 0x1p-24 * kLargest * steps;
    const Doubles end = only_inputs() ? start : after(plate, start, steps);
    constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
    int most_rows = 0;
    std::vector<Buffer> from, to, work;
    for (int d = 0; d < plate.devices; ++d) {
      const int rows = plate.rows(d) + 2;
      most_rows = std::max(most_rows, plate.rows(d));
      const auto there = [&](Buffer b) {
        return on_device(d, b.use == Use::scratch ? std::move(b) : with_margin(Index(plate.width), std::move(b)));
      };
      from.push_back(there(input(of_device("from", d), rows, plate.width, part_of<float>(plate, start, d, kNone))));
      Doubles expected, bounds;
      if (!only_inputs()) {
        expected = part_of<double>(plate, end, d, kNone);
        bounds.assign(expected.size(), bound);
      }
      to.push_back(there(output<float>(of_device("to", d), rows, plate.width, std::move(expected), std::move(bounds))));
      work.push_back(there(scratch<float>(of_device("work", d), rows, plate.width)));
    }
    for (auto* kind : {&from, &to, &work}) std::move(kind->begin(), kind->end(), std::back_inserter(p.buffers));
    p.thread_cost = 1;
    p.timeline_unit = double(steps) * most_rows * plate.width;
    p.timeline_unit_name = "the kernels of one device";
    p.least_flops = 5.0 * double(plate.size()) * steps;
    p.least_load_bytes = p.least_store_bytes = 4 * double(plate.size());
    if (only_inputs()) return p;

    const auto add = [&](const char* mistake, const Doubles& plate_then) {
      for (int d = 0; d < plate.devices; ++d)
        p.hypotheses.push_back({mistake, part_of<double>(plate, plate_then, d, 0), of_device("to", d)});
    };
    add("each device takes its rows for the whole plate: `top` and `bottom` are true where a neighbour's row is there",
        after(plate, start, steps, Mistake::alone));
    add("the neighbours' rows are brought before the first step and never again: each step needs them as they are then",
        after(plate, start, steps, Mistake::stale));
    add("each step gets the neighbours' rows as they were a step before", after(plate, start, steps, Mistake::late));
    add("the plate's first row and its last one are neighbours, as on a ring: there, the point itself is asked for",
        after(plate, start, steps, Mistake::ring));
    add("points at the plate's edge keep their values: there, the point itself stands for the neighbour that isn't "
        "there",
        after(plate, start, steps, Mistake::edge_kept));
    return p;
  }

  std::string where(const Place& at) const override {
    const Plate plate{at.sizes[0], at.sizes[1], at.sizes[3]};
    const int d = at.output.device, rows = plate.rows(d), row = at.row - 1;
    std::string text = fmt::format("it's in row {} of the plate", plate.first(d) + row);
    if (plate.devices == 1) return text;
    text += row == 0 && rows == 1 ? fmt::format(", the only row of device {}", d)
            : row == 0            ? fmt::format(", the first one of device {}", d)
            : row == rows - 1     ? fmt::format(", the last one of device {}", d)
                                  : fmt::format(", row {} of the {} of device {}", row, rows, d);
    return text + (row == 0 && d > 0                          ? fmt::format(": it needs a row of device {}", d - 1)
                   : row == rows - 1 && d + 1 < plate.devices ? fmt::format(": it needs a row of device {}", d + 1)
                                                              : "");
  }

  /// After how many steps the plate was like this, or how far from other devices' rows it is wrong.
  std::string guess(const Sizes& sizes, const Problem& p, const Buffer& output, const Values& got) const override {
    const Plate plate{sizes[0], sizes[1], sizes[3]};
    const int steps = sizes[2], d = output.device;
    const auto& y = std::get<Floats>(got);
    const Index margin = output.margin;
    Doubles now;
    for (int k = 0; k < plate.devices; ++k) {
      const auto& x = std::get<Floats>(p.buffers[Index(k)].values);
      now.insert(now.end(), x.begin() + std::ptrdiff_t(margin), x.end() - std::ptrdiff_t(margin));
    }
    for (int s = 0; s <= steps + 3; ++s, now = after(plate, now, 1)) {
      if (s == steps) continue;
      const Doubles then = part_of<double>(plate, now, d, 0);
      bool same = true;
      for (Index i = margin; i + margin < y.size() && same; ++i)
        same = std::abs(double{y[i]} - then[i]) <= output.bound[i] + 1e-6;
      if (same)
        return fmt::format("it's the plate after {} step{}, not after {}: {}", s, s == 1 ? "" : "s", steps,
                           s < steps ? "is the last step missing, or is its result in another array?"
                                     : "how often does the loop run?");
    }
    int first_wrong = plate.rows(d), last_wrong = -1, nans = 0;
    for (int row = 0; row < plate.rows(d); ++row)
      for (int col = 0; col < plate.width; ++col) {
        const Index i = margin + Index(row) * Index(plate.width) + Index(col);
        if (std::abs(double{y[i]} - output.expected[i]) <= output.bound[i]) continue;
        first_wrong = std::min(first_wrong, row);
        last_wrong = std::max(last_wrong, row);
        nans += std::isnan(y[i]);
      }
    const int rows = plate.rows(d);
    const bool below_is_right = d > 0 && first_wrong == 0 && last_wrong < std::min(steps, rows - 1);
    const bool above_is_right =
        d + 1 < plate.devices && last_wrong == rows - 1 && first_wrong > rows - 1 - std::min(steps, rows - 1);
    if (below_is_right || above_is_right)
      return fmt::format(
          "what is wrong comes from the row of device {}{}: was it brought, in every step, after it had been computed, "
          "and to the right place?",
          below_is_right ? d - 1 : d + 1, nans > 0 ? ", where garbage was" : "");
    return nans > 0 ? "garbage has come in: a neighbour's row that was never brought, or a row of its own that wasn't "
                      "computed"
                    : "";
  }
};

// ------------------------------------------------------------------------------------------------ all-reduce

class AllReduce final : public Task {
 public:
  AllReduce() : Task("16_many_gpus", "all_reduce") {}

  bool same_bits() const override { return true; }

  std::vector<std::uint64_t> lengths(const Sizes& sizes) const override {
    return std::vector<std::uint64_t>(Index(2 * sizes[1]), std::uint64_t(sizes[0]));
  }

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const int n = sizes[0], devices = sizes[1];
    tilewise::Random random(seed);
    std::vector<Floats> x;
    for (int d = 0; d < devices; ++d) {
      x.emplace_back();
      for (int i = 0; i < n; ++i) x.back().push_back(10 * random.uniform());
    }
    Doubles sum, bound;
    for (Index i = 0; i < Index(n) && !only_inputs(); ++i) {
      double all = 0, absolute = 0;
      for (const Floats& v : x) all += double{v[i]}, absolute += std::abs(double{v[i]});
      sum.push_back(all);
      bound.push_back((devices - 1) * 1.01 * 0x1p-24 * absolute);
    }
    Problem p;
    p.own_streams = true;
    p.devices = devices;
    p.without_kernels = devices == 1;
    for (int d = 0; d < devices; ++d)
      p.buffers.push_back(on_device(d, in_place(of_device("x", d), 1, n, x[Index(d)], sum, bound)));
    for (int d = 0; d < devices; ++d) p.buffers.push_back(on_device(d, scratch<float>(of_device("work", d), 1, n)));
    p.thread_cost = 1;
    p.timeline_unit = 2.0 * (devices - 1) / devices * 4 * n;
    p.timeline_unit_name = "sending what each device has to send";
    p.least_flops = double(devices - 1) * n;
    p.least_load_bytes = devices == 1 ? 0 : 4.0 * devices * n;
    p.least_store_bytes = devices == 1 ? 0 : 4.0 * n;
    if (only_inputs() || n == 0 || devices == 1) return p;
    for (int d = 0; d < devices; ++d) {
      const auto add = [&](const std::string& mistake, Doubles values) {
        p.hypotheses.push_back({mistake, std::move(values), of_device("x", d)});
      };
      const auto scaled_sum = [&](Index twice) {
        Doubles values = sum;
        for (Index i = 0; i < Index(n); ++i) values[i] += double{x[twice][i]};
        return values;
      };
      add("nothing is added to the numbers that the device has", Doubles(x[Index(d)].begin(), x[Index(d)].end()));
      for (Index k = 0; k < Index(devices); ++k)
        add(fmt::format("device {}'s numbers are added twice", k), scaled_sum(k));
      Doubles last(n);
      for (Index i = 0; i < Index(n); ++i) last[i] = sum[i] / devices;
      add("the sum is divided by the number of devices", last);
    }
    return p;
  }

  std::string where(const Place& at) const override {
    const int n = at.sizes[0], devices = at.sizes[1];
    if (devices == 1) return "";
    int part = 0;
    while (begin_of(part + 1, n, devices) <= at.col) ++part;
    return fmt::format(
        "it's on device {}; if the array has a part for each device, it's in part {} (elements {} to {})",
        at.output.device, part, begin_of(part, n, devices), begin_of(part + 1, n, devices) - 1);
  }

  /// Which devices' numbers are in the sums.
  std::string guess(const Sizes& sizes, const Problem& p, const Buffer& output, const Values& got) const override {
    const int devices = sizes[1];
    const auto& y = std::get<Floats>(got);
    const auto is_wrong = [&](Index i) { return !(std::abs(double{y[i]} - output.expected[i]) <= output.bound[i]); };
    Index first = 0, wrong = 0;
    for (Index i = y.size(); i-- > 0;)
      if (is_wrong(i)) first = i, ++wrong;
    const auto value = [&](int d, Index i) { return double{std::get<Floats>(p.buffers[Index(d)].values)[i]}; };
    bool untouched = first > 0 && first + wrong == y.size();
    for (Index i = first; i < y.size() && untouched; ++i) untouched = double{y[i]} == value(output.device, i);
    if (untouched)
      return fmt::format("nothing is added from element {} on, of {}: where does the last part end?", first, y.size());
    // How often each device's numbers may be in them.
    constexpr int kMost = 4;  // times, plus one
    int combinations = 1;
    for (int d = 0; d < devices; ++d) combinations *= kMost;
    for (int number = 1; number < combinations; ++number) {
      std::vector<int> times;
      for (int d = 0, left = number; d < devices; ++d, left /= kMost) times.push_back(left % kMost);
      if (std::count(times.begin(), times.end(), 1) == devices) continue;
      const auto is_this_sum = [&](Index i) {
        double sum = 0;
        for (int d = 0; d < devices; ++d) sum += times[Index(d)] * value(d, i);
        return std::abs(sum - double{y[i]}) <= 3 * output.bound[i];
      };
      Index end = first;
      while (end < y.size() && is_wrong(end) && is_this_sum(end)) ++end;
      if (end == first || (end - first < 3 && wrong > 3)) continue;
      std::string sum;
      for (int d = 0; d < devices; ++d)
        if (times[Index(d)] > 0)
          sum += fmt::format("{}{}x[{}]", sum.empty() ? "" : " + ",
                             times[Index(d)] == 1 ? "" : fmt::format("{} ", times[Index(d)]), d);
      return end - first == 1
                 ? fmt::format("element {} is {}, of the numbers that were there before", first, sum)
                 : fmt::format("elements {} to {} are {}, of the numbers that were there before", first, end - 1, sum);
    }
    return "";
  }

  std::string together(const Sizes&, const Problem& p, const std::vector<Values>& got) const override {
    const auto& all = std::get<Floats>(got[0]);
    for (int d = 1; d < p.devices; ++d) {
      const auto& y = std::get<Floats>(got[Index(d)]);
      for (Index i = 0; i < y.size(); ++i)
        if (y[i] != all[i])
          return fmt::format(
              "x[0][{0}] is {1:.9g} and x[{2}][{0}] is {3:.9g}: each is right, give or take rounding, and yet all "
              "devices "
              "must have the same bits. Let one device add up an element, and send the sum to the others",
              i, all[i], d, y[i]);
    }
    return "";
  }
};

const Heat heat;
const AllReduce all_reduce;

}  // namespace
