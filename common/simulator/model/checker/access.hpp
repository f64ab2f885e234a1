// The access that is looked at.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/checker/state.hpp"

namespace tilewise::sim::checker {

struct Now {
  State& s;
  Lane& lane;
  MemorySpace space;
  std::uintptr_t address;  // of the access
  std::size_t bytes;
  Access kind;
  const void* site;
  std::uint16_t thread, time, site_number;
  unsigned lane_id;
  const WarpClock& clock;
  bool is_volatile;
  bool is_number = false;      // of all its bytes; else it may be a struct with padding
  std::uintptr_t to_copy = 0;  // the distance to where the access is remembered: memory::distance_to_copy()
};

[[gnu::always_inline]] inline Now access_now(State& s, Lane& lane, MemorySpace space, std::uintptr_t address,
                                             std::size_t bytes, Access kind, const void* site) {
  const unsigned l = lane.linear % kWarpSize;
  const WarpClock& clock = s.clocks[lane.linear / kWarpSize];
  return {s,
          lane,
          space,
          address,
          bytes,
          kind,
          site,
          static_cast<std::uint16_t>(lane.linear),
          clock.time[l],
          s.number(site),
          l,
          clock,
          lane.volatile_access};
}

// A thread of the same block touched the word since the last barrier. Is that ordered before the access now?
inline bool ordered_in_warp(const Now& now, unsigned thread, std::uint32_t interval, std::uint16_t time) {
  return thread / kWarpSize == now.thread / kWarpSize &&
         now.clock.knows(now.lane_id, thread % kWarpSize, interval, time);
}

}  // namespace tilewise::sim::checker
