// The memory hardware's arithmetic: what one warp-level instruction costs, from the addresses of its lanes.
// Pure functions; docs/architecture.md and the validation table say where the rules come from.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tilewise::sim::model {

constexpr unsigned kLanes = 32;
constexpr unsigned kSectorBytes = 32;
constexpr unsigned kBanks = 32;

/// Lane i takes part when bit i of `mask` is set; it touches bytes [address[i], address[i] + bytes).
struct LaneAddresses {
  std::uint32_t mask;
  std::uint32_t bytes;
  const std::uint64_t* address;
};

/// Calls f(lane) for each lane of `mask`, in order.
template <class Function>
void for_each_lane(std::uint32_t mask, Function f) {
  if (mask == ~0u) {  // nearly all are
    for (unsigned lane = 0; lane < kLanes; ++lane) f(lane);
  } else {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) f(static_cast<unsigned>(std::countr_zero(rest)));
  }
}

/// A number that differs, as good as always, where the lanes' addresses do: the sum of the addresses, each times an odd
/// number of the lane's own. The same lanes with addresses that are all larger by d have lane_weights(mask) * d more.
std::uint64_t fingerprint(const LaneAddresses& lanes);
std::uint64_t lane_weights(std::uint32_t mask);

/// Distinct 32-byte sectors that the lanes touch; they are written to `sectors` (room for 64, as address / 32).
/// Accesses are at most 16 bytes wide and may straddle two sectors when misaligned.
unsigned distinct_sectors(const LaneAddresses& lanes, std::uint64_t* sectors);

/// Sectors that the same number of different words would fill if they lay side by side. `touched` is what
/// distinct_sectors() gave.
unsigned ideal_sectors(const LaneAddresses& lanes, unsigned touched);

/// Sectors that an atomic instruction is counted with: a sector counts as often as its most wanted word has lanes.
unsigned atomic_sectors(const LaneAddresses& lanes);

/// Passes through shared memory: 32 banks of 4 bytes; lanes that want one word share it. 8-byte accesses go in two
/// halves of the warp, 16-byte accesses in four quarters. Where lanes i and i^1 (or i and i^2) of a load want the same
/// address, two of these parts go together, if then no two words lie in one bank. The rules for idle lanes are those that
/// Nsight Compute's counter follows on an H200: 3,753 patterns of 16-byte loads and 295 of 8-byte loads, all equal.
unsigned shared_wavefronts(const LaneAddresses& lanes, bool is_load);

/// The same of LDSM, whose lanes name rows of 16 bytes: eight at a time go, those of one 8 x 8 matrix.
unsigned matrix_load_wavefronts(const LaneAddresses& lanes);
unsigned ideal_matrix_load_wavefronts(const LaneAddresses& lanes);

/// Most distinct words that any one bank must deliver to the lanes of `mask`.
unsigned deepest_bank(const LaneAddresses& lanes, std::uint32_t mask);

/// Sectors that a 16-byte asynchronous copy is counted with: one for each sector of shared memory and each cache line that
/// something comes there from. `to` says where each lane's bytes go.
unsigned copied_sectors(const LaneAddresses& lanes, const std::uint64_t* to);

/// What an asynchronous copy of 4 or 8 bytes needs of L1's banks, from which and to which its words go; of 16 bytes it is
/// nothing. The lanes of `read_mask` copy, the others fill with zeros.
struct CopyPasses {
  unsigned wavefronts;  ///< by Nsight Compute's formula
  unsigned at_least;    ///< each bank gives one word in a pass, and takes one
};
CopyPasses copy_passes(const LaneAddresses& lanes, std::uint32_t read_mask, const std::uint64_t* to);

/// Passes of the same instruction if no two lanes met in a bank.
unsigned ideal_wavefronts(const LaneAddresses& lanes, bool is_load);

}  // namespace tilewise::sim::model
