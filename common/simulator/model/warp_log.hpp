// Collects the accesses of a warp's lanes, which run one after another, into the warp instructions that the hardware
// would issue.
//
// Two accesses belong to one instruction when they come from the same place in the code, reached by the same calls, in
// the same iteration of every enclosing loop, between the same two barriers. Lanes usually take the same path, so a
// lane's next access is looked for where the lane before it went; only a lane that leaves the path costs a hash look-up.
#pragma once

#include <cstdint>
#include <vector>

#include "model/observer.hpp"
#include "model/warp_instruction.hpp"

namespace tilewise::sim::model {

enum class MemorySpace : std::uint8_t { global, shared, constant, local, host };

/// One warp instruction. The addresses are kept apart, see WarpLog.
struct WarpInstruction {
  std::uint64_t key;
  const void* site;
  std::uint32_t mask;
  std::uint32_t next;  ///< the slot that followed this one last time
  std::uint16_t bytes;
  observer::Access kind;
  MemorySpace space;
};

class WarpLog {
 public:
  WarpLog();

  /// Adds one lane's access of 1 to 16 bytes. `last_slot` is the lane's own cursor.
  void add(std::uint64_t context, const void* site, observer::Access kind, MemorySpace space, std::uint64_t address,
           std::uint32_t bytes, unsigned lane, std::uint32_t& last_slot) {
    const std::uint64_t key = context ^ (reinterpret_cast<std::uintptr_t>(site) * 0xD6E8FEB86659FD93ull) ^
                              (std::uint64_t{bytes} << 56 | std::uint64_t(kind) << 52 | std::uint64_t(space) << 48);
    std::uint32_t slot = last_slot == kNone ? first_ : slots_[last_slot].next;
    if (slot >= count_ || slots_[slot].key != key || (slots_[slot].mask >> lane & 1u)) {
      slot = find_or_append(key, lane, site, kind, space, bytes);
      if (last_slot == kNone)
        first_ = slot;
      else
        slots_[last_slot].next = slot;
    }
    slots_[slot].mask |= 1u << lane;
    addresses_[lane * stride_ + slot] = address;
    last_slot = slot;
  }

  std::uint32_t size() const { return count_; }
  const WarpInstruction& operator[](std::uint32_t i) const { return slots_[i]; }

  /// The addresses of instruction i, one per lane; of lanes that are not in its mask, anything.
  void addresses(std::uint32_t i, std::uint64_t (&of_lane)[kLanes]) const {
    for (unsigned lane = 0; lane < kLanes; ++lane) of_lane[lane] = addresses_[lane * stride_ + i];
  }
  void clear();

  static constexpr std::uint32_t kNone = ~0u;

 private:
  std::uint32_t find_or_append(std::uint64_t key, unsigned lane, const void* site, observer::Access kind,
                               MemorySpace space, std::uint32_t bytes);
  void grow();
  void grow_table();

  // A lane walks through its own row of addresses while it runs, so that it writes them one after another. The rows are
  // a cache line longer than they need be: otherwise the same place of all rows would compete for one set of the cache.
  static constexpr std::size_t kPadding = 8;

  std::vector<WarpInstruction> slots_;    // the first count_ are in use
  std::vector<std::uint64_t> addresses_;  // kLanes x stride_
  std::size_t stride_;
  std::vector<std::uint32_t> table_;  // slot + 1, 0 = free; open addressing
  std::uint32_t count_ = 0;
  std::uint32_t first_ = 0;
};

}  // namespace tilewise::sim::model
