#include "printing.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "base/for_ever.hpp"
#include "base/thread.hpp"

namespace tilewise::sim::printing {

std::size_t left = 0;

namespace {

constexpr std::size_t kMostLines = 2048;  // a kernel that prints more is shown in pieces

/// One call of printf.
struct Line {
  unsigned call;
  const void* place;  ///< in the kernel's code, where it prints or calls what does
  std::uint64_t loop_context, call_context;
  std::string text;
  bool is_same_call(const Line& other) const {
    return call == other.call && loop_context == other.loop_context && call_context == other.call_context;
  }
};

/// What a lane has printed, and how much of it is shown.
struct OfLane {
  std::vector<Line> lines;
  std::size_t shown = 0;

  bool is_done() const { return shown == lines.size(); }
  const Line& next() const { return lines[shown]; }
  bool comes_to(const Line& call) const {
    return std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(shown), lines.end(),
                       [&](const Line& line) { return line.is_same_call(call); });
  }
};

struct State {
  OfLane lanes[kWarpSize];
};
State& state() {
  static auto& s = *for_ever<State>();
  return s;
}

// The call that comes first: of the lanes' next ones that which lies first in the code, unless another lane comes to it later, by calls
// that this lane doesn't make.
const Line& first_call(const State& s) {
  const OfLane* lane = nullptr;
  for (const OfLane& other : s.lanes)
    if (!other.is_done() && (lane == nullptr || other.next().place < lane->next().place)) lane = &other;
  for (unsigned looked = 0; looked < kWarpSize; ++looked) {
    const Line& call = lane->next();
    const OfLane* before = std::find_if(std::begin(s.lanes), std::end(s.lanes), [&](const OfLane& other) {
      return !other.is_done() && !other.next().is_same_call(call) && other.comes_to(call) &&
             !lane->comes_to(other.next());
    });
    if (before == std::end(s.lanes)) return call;
    lane = before;
  }
  return lane->next();
}

}  // namespace

void in_step(std::string text, unsigned call, const void* site) {
  State& s = state();
  const Lane& lane = *current_lane;
  const void* const place = lane.call_depth == 0 ? site : lane.calls->callers[0];
  s.lanes[lane.linear % kWarpSize].lines.push_back(
      {call, place, lane.loop_context, lane.call_context, std::move(text)});
  if (++left == kMostLines) show();
}

void show() {
  State& s = state();
  while (left != 0) {
    const Line call = first_call(s);
    for (OfLane& lane : s.lanes) {
      if (lane.is_done() || !lane.next().is_same_call(call)) continue;
      std::fwrite(lane.next().text.data(), 1, lane.next().text.size(), stdout);
      ++lane.shown, --left;
    }
  }
  for (OfLane& lane : s.lanes) lane.lines.clear(), lane.shown = 0;
}

}  // namespace tilewise::sim::printing
