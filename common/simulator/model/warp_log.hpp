// Collects the accesses of a warp's lanes, which run one after another, into the warp instructions that the hardware
// would issue.
//
// Two accesses belong to one instruction when they come from the same place in the code, reached by the same calls, in
// the same iteration of every enclosing loop, between the same two barriers. Lanes usually take the same path, so a
// lane's next access is looked for where the lane before it went; only a lane that leaves the path costs a hash look-up.
#pragma once

#include <cstdint>
#include <vector>

#include "model/async_copies.hpp"
#include "model/observer.hpp"
#include "model/warp_instruction.hpp"

namespace tilewise::sim::model {

/// none: not an access, but a branch. The "address" is 1 in the lanes that take it, else 0.
enum class MemorySpace : std::uint8_t { global, shared, constant, local, host, none };

/// One warp instruction. The addresses are kept apart, see WarpLog.
struct WarpInstruction {
  std::uint64_t key;
  const void* site;
  std::uint32_t mask;
  std::uint32_t next;  ///< the slot that followed this one last time
  std::uint16_t bytes;
  observer::Access kind;
  MemorySpace space;
  std::uint8_t known_bits;  ///< last bits of the addresses that the compiler knows: 3, 4, or 5 for all, else 0
  bool stays;               ///< as it is: volatile, or a part of a matrix operation
  std::uint16_t depth;      ///< how many loops it is in
  std::uint32_t loops;      ///< where they are among the log's
  std::uint32_t copy;       ///< of an asynchronous copy, where its other half is among the log's
  std::uint64_t where;      ///< the place in the code, and the calls that led to it, without the loops
};

/// One of the loops that an instruction is in.
struct InLoop {
  const void* place;        ///< in the code
  std::uint64_t around;     ///< the context of the code around it
  std::uint32_t iteration;  ///< 1, 2, ...; 0 in the condition before the first
  std::uint32_t facts;      ///< LoopFacts
};

/// Where an asynchronous copy goes; where it comes from is the instruction's address.
struct CopyTarget {
  std::uint32_t read_mask = 0;  ///< lanes that read something; the others only fill with zeros
  std::uint8_t read = 0;        ///< bytes that they read
  bool chosen_zeros = false;    ///< how many bytes are filled with zeros is not known when it is compiled
  std::uint64_t to[kLanes] = {};
};

class WarpLog {
 public:
  WarpLog();

  /// Adds one access of 1 to 16 bytes by a lane, whose last_slot is the log's cursor.
  [[gnu::always_inline]] void add(std::uint64_t context, const void* site, observer::Access kind, MemorySpace space,
                                  std::uint64_t address, std::uint32_t bytes, Lane& thread, unsigned known_bits = 0) {
    const unsigned lane = thread.linear % kWarpSize;
    std::uint32_t& last_slot = thread.last_slot;
    const std::uint64_t key = context ^ (reinterpret_cast<std::uintptr_t>(site) * 0xD6E8FEB86659FD93ull) ^
                              (std::uint64_t{bytes} << 56 | std::uint64_t(kind) << 52 | std::uint64_t(space) << 48);
    std::uint32_t slot = last_slot == kNone ? first_ : slots_[last_slot].next;
    if (slot >= count_ || slots_[slot].key != key || (slots_[slot].mask >> lane & 1u)) {
      slot = find_or_append(key, thread, site, kind, space, bytes, known_bits);
      if (last_slot == kNone)
        first_ = slot;
      else
        slots_[last_slot].next = slot;
    }
    slots_[slot].mask |= 1u << lane;
    addresses_[lane * stride_ + slot] = address;
    last_slot = slot;
  }

  /// The same for an asynchronous copy to shared memory, which begins at `shared`.
  void add_copy(std::uint64_t context, const AsyncCopy& copy, const char* shared, Lane& thread);

  /// The compiler leaves the instruction as it is.
  void keep(std::uint32_t slot) { slots_[slot].stays = true; }

  std::uint32_t size() const { return count_; }

  /// How many loads of shared memory a lane has made.
  std::uint64_t shared_loads(unsigned lane) const;

  const CopyTarget& copy(const WarpInstruction& w) const { return copies_[w.copy]; }
  const WarpInstruction& operator[](std::uint32_t i) const { return slots_[i]; }

  /// The addresses of instruction i, one per lane; of lanes that are not in its mask, anything.
  void addresses(std::uint32_t i, std::uint64_t (&of_lane)[kLanes]) const {
    for (unsigned lane = 0; lane < kLanes; ++lane) of_lane[lane] = addresses_[lane * stride_ + i];
  }
  std::uint64_t address(std::uint32_t i, unsigned lane) const { return addresses_[lane * stride_ + i]; }

  /// The loops that an instruction is in, the outermost first: as many as its depth.
  const InLoop* loops(const WarpInstruction& w) const { return loops_.data() + w.loops; }
  void clear();

  static constexpr std::uint32_t kNone = ~0u;

 private:
  std::uint32_t find_or_append(std::uint64_t key, const Lane& thread, const void* site, observer::Access kind,
                               MemorySpace space, std::uint32_t bytes, unsigned known_bits);
  void note_loops(WarpInstruction& w, const Lane& thread);
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
  std::vector<InLoop> loops_;
  std::vector<CopyTarget> copies_;
  std::uint64_t noted_context_ = 0;  // the loops noted last are those of this context
  const void* noted_place_ = nullptr;
  std::uint32_t noted_ = 0;
  std::uint16_t noted_depth_ = 0;
};

}  // namespace tilewise::sim::model
