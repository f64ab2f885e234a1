// The clock of device code: it counts how often it's read, and hurries where a thread does nothing but wait for it.
#include <algorithm>
#include <cstdint>

#include "base/thread.hpp"
#include "runtime/repeats.hpp"
#include "runtime/scheduler.hpp"

namespace tilewise::sim {
namespace {
namespace waiting {

constexpr std::uint64_t kPatience = 1'000;  // readings in a row by one thread; what measures itself reads less often
constexpr std::uint64_t kDoubling = 100;    // readings until a step is twice as long
constexpr std::uint64_t kDoublings = 20;    // at most: a loop that takes differences of 32 bits must not miss its end

// How far the clock goes on with the next reading.
long long step() {
  static const Lane* reader = nullptr;
  static std::uint64_t block = 0, in_a_row = 0;
  if (current_lane != reader || running_launch().block_serial != block) {
    reader = current_lane;
    block = running_launch().block_serial;
    in_a_row = 0;
  }
  if (++in_a_row <= kPatience) return 1;
  return 1LL << std::min((in_a_row - kPatience) / kDoubling, kDoublings);
}

}  // namespace waiting
}  // namespace

long long clock_reading() {
  static long long now = 0;  // one OS thread runs kernels
  ++launch_effects;
  return now += waiting::step();
}

}  // namespace tilewise::sim
