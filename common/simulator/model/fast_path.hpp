// The commonest accesses: ordinary loads and stores of global and shared memory, with which nothing is wrong, and of the
// thread's own variables. Everything else goes through observer::access().
#pragma once

#include "base/memory.hpp"
#include "model/checker.hpp"
#include "model/observer.hpp"
#include "model/warp_log.hpp"

namespace tilewise::sim::observer {

/// The accesses of the running warp since its last barrier.
extern model::WarpLog log;

/// Tells one way to a place in the code from another: by which calls, in which iteration of each loop.
inline std::uint64_t context_of(const Lane& lane) { return lane.loop_context ^ lane.call_context * 3; }

/// In a launch that is counted and not checked: counts the access and returns true, or does nothing and returns false. `bytes`
/// is 1, 2, 4, 8 or 16. Short enough to be inlined into the hooks.
[[gnu::always_inline]] inline bool count_alone(Lane& lane, std::uintptr_t address, std::uint32_t bytes, Access kind,
                                               const void* site, unsigned known_bits) {
  model::MemorySpace space;
  if (memory::in_device_arena(address))
    space = model::MemorySpace::global;
  else if (address - reinterpret_cast<std::uintptr_t>(shared_begin) < 2 * kSharedRegion)
    space = model::MemorySpace::shared;
  else
    return on_own_stack(address);  // and not counted
  if (kind == Access::store) idle_polls = 0;
  log.add(context_of(lane), site, kind, space, address, bytes, lane, known_bits);
  return true;
}

/// The same in a launch that is checked, and perhaps counted.
template <Access kind, std::uint32_t bytes>
[[gnu::always_inline]] inline bool check_and_count(Lane& lane, std::uintptr_t address, const void* site,
                                                   unsigned known_bits) {
  if (on_own_stack(address)) return true;
  const model::MemorySpace space = checker::check_quickly<kind, bytes>(lane, address, site);
  if (space == model::MemorySpace::none) return false;
  if (kind == Access::store) idle_polls = 0;
  if (counting) log.add(context_of(lane), site, kind, space, address, bytes, lane, known_bits);
  return true;
}

/// A lane has come to a branch of which nvcc executes both ways.
inline void branch(Lane& lane, bool taken, const void* site) {
  if (counting) log.add(context_of(lane), site, Access::load, model::MemorySpace::none, taken, 1, lane);
}

}  // namespace tilewise::sim::observer
