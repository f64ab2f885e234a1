#include "model/race_search.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/findings.hpp"
#include "base/for_ever.hpp"
#include "base/symbols.hpp"

namespace tilewise::sim::race_search {

constinit std::int64_t left = std::numeric_limits<std::int64_t>::max();

namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kOfAProgram = 1000 * kMillion;  // accesses
constexpr std::int64_t kMostMillions = 1'000'000;
constexpr std::int64_t kShare = 2;               // half of what is left goes to launches of one place and shape,
constexpr std::int64_t kAtLeast = 8 * kMillion;  // and this when it is less
constexpr std::size_t kNamed = 3;

// 0 for a wrong value, of which it has said so.
std::int64_t from_environment() {
  const char* value = std::getenv("TILEWISE_RACES");
  if (value == nullptr || *value == '\0') return kOfAProgram;
  if (std::strcmp(value, "all") == 0) return kAll;
  const char* const end = value + std::strlen(value);
  std::int64_t number = 0;
  const auto [last, error] = std::from_chars(value, end, number);
  if (error == std::errc() && last == end && number >= 1 && number <= kMostMillions) return number * kMillion;
  std::fprintf(stderr, "TILEWISE_RACES '%s': not a number of accesses in millions; allowed are 1 to %s, and all\n",
               value, grouped_digits(kMostMillions).c_str());
  return 0;
}

std::int64_t of_program() {
  static const std::int64_t accesses = from_environment();
  return accesses;
}
// Before main(): a wrong value ends the program before it does anything. Other constructors may launch kernels still earlier.
const bool value_is_right = of_program() > 0 || (std::exit(2), false);

// Launches of one place and shape, in one stream.
using Shape = std::array<std::uintptr_t, 9>;

Shape shape_of(const Launch& launch) {
  const dim3 &grid = launch.config.grid, &block = launch.config.block;
  return {reinterpret_cast<std::uintptr_t>(launch.site),
          grid.x,
          grid.y,
          grid.z,
          block.x,
          block.y,
          block.z,
          launch.config.shared,
          launch.stream};
}

struct State {
  std::int64_t left = of_program();
  std::map<Shape, std::int64_t> shapes;  // what is left of their share
  std::int64_t* share = nullptr;         // of the running launch
  std::uint64_t in_part = 0;             // launches
  std::vector<std::string> kernels;      // theirs
};

State& state() {
  static State* s = for_ever<State>();
  return *s;
}

}  // namespace

void begin_launch(const Launch& launch, bool whole) {
  State& s = state();
  s.share = nullptr;
  left = kAll;
  if (whole || of_program() == kAll) return;
  const auto [known, is_new] =
      s.shapes.try_emplace(shape_of(launch), std::max(s.left / kShare, std::min(kAtLeast, of_program())));
  s.share = &known->second;
  left = known->second;
}

void end_launch(const Launch& launch) {
  State& s = state();
  if (s.share == nullptr) return;
  const bool in_part = left < 0;  // 0: what is left has just been used up
  const std::int64_t rest = std::max<std::int64_t>(left, 0);
  left = kAll;
  s.left = std::max<std::int64_t>(s.left - (*s.share - rest), 0);
  *s.share = rest;
  s.share = nullptr;
  if (!in_part) return;
  ++s.in_part;
  std::string name = function_name(launch.kernel);
  if (std::find(s.kernels.begin(), s.kernels.end(), name) == s.kernels.end()) s.kernels.push_back(std::move(name));
}

void say_where_it_ended() {
  const State& s = state();
  if (s.in_part == 0 || shows_no_findings()) return;
  std::string names;
  for (std::size_t i = 0; i < s.kernels.size() && i < kNamed; ++i) names += (i == 0 ? "" : ", ") + s.kernels[i];
  if (s.kernels.size() > kNamed) names += " and others";
  std::fprintf(
      stderr,
      "tilewise: %s launch%s (%s) made too many accesses to look for races among all of them: bounds were looked at "
      "to the end, races in the beginning. TILEWISE_RACES=all looks for them everywhere, and takes longer.\n",
      grouped_digits(s.in_part).c_str(), s.in_part == 1 ? "" : "es", names.c_str());
}

}  // namespace tilewise::sim::race_search
