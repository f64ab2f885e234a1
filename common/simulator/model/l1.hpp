// What one warp's request for global memory costs inside L1: passes through the tag stage, which finds cache lines, and
// through the data stage, which holds the 32 banks of shared memory. docs/architecture.md says how the rules were found.
#pragma once

#include <cstdint>

#include "model/warp_instruction.hpp"

namespace tilewise::sim::model {

constexpr unsigned kLineBytes = 128;
constexpr unsigned kTagBanks = 4;

/// The bank of L1's tags that holds a cache line; `line` is its address / 128.
unsigned tag_bank(std::uint64_t line);

/// Passes through the tag stage: each looks up at most one line in each of the four banks of tags, so a request takes as many
/// as the busiest of them has different lines. `sectors` are what distinct_sectors() gave, `n` of them, ascending.
unsigned tag_passes(const std::uint64_t* sectors, unsigned n);

/// Passes through the data stage: as many as the busiest of the 32 banks has different words. Accesses of 8 bytes go in
/// two halves of the warp, accesses of 16 bytes in four quarters.
unsigned data_passes(const LaneAddresses& lanes);

/// Passes of the same request if no two of its words met in a bank.
unsigned ideal_data_passes(const LaneAddresses& lanes);

}  // namespace tilewise::sim::model
