// What orders accesses of different blocks: a fence, and a flag that the one sets and the other reads.
#pragma once

#include <cstdint>

#include "model/checker/access.hpp"

namespace tilewise::sim::checker {

/// Does what an earlier block did come before the access now? Its last write of a cell; its last reads; an older one.
bool comes_after_write(const Now& now, const LastWrite& write);
bool comes_after_reads(const Now& now, const LastRead& read);
bool comes_after_older_read(const Now& now, std::uint32_t interval);

/// What is missing between an access of an earlier block and the one now, where something of the kind is there; else nullptr.
const char* missing_between_blocks(const Now& now, std::uint32_t interval);

/// A thread reads a flag or lock (atomic or volatile): it comes after what was fenced before the store to it; after what other
/// blocks did, once it has a fence itself.
void take_over(State& s, unsigned thread, MemorySpace space, std::uintptr_t address);

/// Its store passes on, within the block, everything up to now: what follows counts as later. And to other blocks what a fence of
/// theirs follows.
void hand_over(State& s, unsigned thread, MemorySpace space, std::uintptr_t address);

}  // namespace tilewise::sim::checker
