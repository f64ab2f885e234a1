#include "model/sample.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/findings.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim {
namespace {

// Before main(): a wrong value ends the program before it does anything.
std::uint64_t from_environment() {
  const char* value = std::getenv("TILEWISE_SAMPLE");
  if (value == nullptr || *value == '\0') return 0;
  const std::string_view text = value;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= 1 && number <= kMostSampled) return number;
  std::fprintf(stderr, "TILEWISE_SAMPLE '%s': not a number of blocks; allowed are 1 to %llu\n", value,
               static_cast<unsigned long long>(kMostSampled));
  std::exit(2);
}

struct Sampling {
  std::uint64_t size = 0;
  bool by_program = false;  // set_sample() was called: the program knows
  std::uint64_t launches = 0;
};

Sampling sampling{from_environment()};

struct Span {
  unsigned begin, end;
  std::uint64_t size() const { return end - begin; }
};

// The first, those between, the last.
std::vector<Span> kinds(unsigned n) {
  if (n == 1) return {{0, 1}};
  if (n == 2) return {{0, 1}, {1, 2}};
  return {{0, 1}, {1, n - 1}, {n - 1, n}};
}

// `count` blocks out of a box, one of each of `count` equal parts of it in index order. Where in its part, changes by the
// golden ratio from part to part, so that nothing that repeats every so many blocks is met always or never.
std::vector<uint3> spread(Span x, Span y, Span z, std::uint64_t count) {
  constexpr std::uint32_t kGolden = 0x9E3779B9;
  const std::uint64_t size = x.size() * y.size() * z.size();
  const auto part = [&](std::uint64_t i) { return size / count * i + size % count * i / count; };
  std::vector<uint3> blocks;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double place = (0x80000000u + static_cast<std::uint32_t>(i) * kGolden) * 0x1p-32;
    const std::uint64_t begin = part(i);
    const std::uint64_t at = begin + static_cast<std::uint64_t>(place * static_cast<double>(part(i + 1) - begin));
    blocks.push_back({static_cast<unsigned>(x.begin + at % x.size()),
                      static_cast<unsigned>(y.begin + at / x.size() % y.size()),
                      static_cast<unsigned>(z.begin + at / x.size() / y.size())});
  }
  return blocks;
}

}  // namespace

std::vector<Stratum> choose_blocks(dim3 grid, std::uint64_t wanted) {
  struct Box {
    Span x, y, z;
    std::uint64_t size = 0, count = 1;
  };
  std::vector<Box> boxes;
  std::uint64_t total = 0;
  for (const Span z : kinds(grid.z))
    for (const Span y : kinds(grid.y))
      for (const Span x : kinds(grid.x)) {
        boxes.push_back({x, y, z, x.size() * y.size() * z.size()});
        total += boxes.back().size;
      }
  if (wanted == 0 || std::max<std::uint64_t>(wanted, boxes.size()) >= total) return {};
  std::uint64_t left = wanted > boxes.size() ? wanted - boxes.size() : 0;  // beyond one of each kind
  const double share = static_cast<double>(left) / static_cast<double>(total - boxes.size());
  for (Box& box : boxes) {
    const std::uint64_t more =
        std::min({left, box.size - 1, static_cast<std::uint64_t>(share * static_cast<double>(box.size - 1))});
    box.count += more;
    left -= more;
  }
  for (; left > 0; --left) {  // what rounding down has left over: to the blocks that stand for most
    ++std::max_element(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) {
        return static_cast<double>(a.size) / static_cast<double>(a.count) <
               static_cast<double>(b.size) / static_cast<double>(b.count);
      })->count;
  }
  std::vector<Stratum> strata;
  for (const Box& box : boxes) strata.push_back({box.size, spread(box.x, box.y, box.z, box.count)});
  return strata;
}

std::uint64_t sample_size() { return sampling.size; }

std::uint64_t set_sample(std::uint64_t blocks) {
  sampling.by_program = true;
  return std::exchange(sampling.size, blocks);
}

void note_sampled_launch() { ++sampling.launches; }

void say_what_was_sampled() {
  if (sampling.launches == 0 || sampling.by_program) return;
  std::fprintf(stderr,
               "tilewise: TILEWISE_SAMPLE=%s: %s launch%s ran in part. The counts are scaled to whole grids, but the "
               "results are unfinished: don't believe what this program says about them.\n",
               std::getenv("TILEWISE_SAMPLE"), grouped_digits(sampling.launches).c_str(),
               sampling.launches == 1 ? "" : "es");
}

}  // namespace tilewise::sim
