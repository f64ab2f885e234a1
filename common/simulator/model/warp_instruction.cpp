#include "model/warp_instruction.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <numeric>
#include <utility>

namespace tilewise::sim::model {
namespace {

// Bit i of the result is bit i ^ distance of `mask`; distance is 1 or 2.
std::uint32_t neighbours(std::uint32_t mask, unsigned distance) {
  const std::uint32_t lower = distance == 1 ? 0x55555555 : 0x33333333;
  return (mask >> distance & lower) | (mask & lower) << distance;
}

// What the lanes of a warp want, as far as neighbours at a distance of 1 or 2 are concerned.
struct Neighbours {
  std::uint32_t differ;  ///< lanes that want something else than their neighbour does, both active
  std::uint32_t alone;   ///< lanes that are active or idle where their neighbour is not
};

Neighbours compare(const LaneAddresses& lanes, unsigned distance) {
  std::uint32_t differ = 0;
  for (unsigned i = 0; i < kLanes; ++i) differ |= std::uint32_t{lanes.address[i] != lanes.address[i ^ distance]} << i;
  const std::uint32_t other = neighbours(lanes.mask, distance);
  return {differ & lanes.mask & other, lanes.mask ^ other};
}

// All active lanes want the same.
bool one_for_all(const LaneAddresses& lanes) {
  const std::uint64_t first = lanes.address[std::countr_zero(lanes.mask)];
  for (std::uint32_t rest = lanes.mask; rest != 0; rest &= rest - 1)
    if (lanes.address[std::countr_zero(rest)] != first) return false;
  return true;
}

// The warp (8-byte loads) or the half of it (16-byte loads) whose lanes are `group` may be served at once, if the banks
// permit: neighbours want the same. An idle lane wants whatever its neighbour wants, except in the lower half of a 16-byte
// load. There lane 31 decides: while it is idle the whole half agrees, and while it is active an idle lane agrees with idle
// lanes only. That is how Nsight Compute counts on an H200, found with 3,025 patterns of one warp; it looks as if the mask of
// active lanes were shifted with its sign.
bool neighbours_agree(const LaneAddresses& lanes, std::uint32_t group) {
  constexpr std::uint32_t kLowerHalf = 0xFFFF, kLastLane = 0x80000000;
  if (group == kLowerHalf && (lanes.mask & kLastLane) == 0) return true;
  for (unsigned distance : {1u, 2u}) {
    const Neighbours n = compare(lanes, distance);
    if ((group & (group == kLowerHalf ? n.differ | n.alone : n.differ)) == 0) return true;
  }
  return false;
}

}  // namespace

namespace {

constexpr auto kLaneNumbers = [] {
  std::array<std::uint64_t, kLanes> numbers{};
  std::uint64_t x = 0;
  for (std::uint64_t& number : numbers) {  // splitmix64
    x += 0x9E3779B97F4A7C15;
    std::uint64_t z = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    number = (z ^ z >> 31) | 1;
  }
  return numbers;
}();

}  // namespace

std::uint64_t fingerprint(const LaneAddresses& lanes) {
  std::uint64_t sum = 0;
  for_each_lane(lanes.mask, [&](unsigned i) { sum += lanes.address[i] * kLaneNumbers[i]; });
  return sum;
}

std::uint64_t lane_weights(std::uint32_t mask) {
  static constexpr std::uint64_t kAll = std::accumulate(kLaneNumbers.begin(), kLaneNumbers.end(), std::uint64_t{0});
  if (mask == ~0u) return kAll;
  std::uint64_t sum = 0;
  for_each_lane(mask, [&](unsigned i) { sum += kLaneNumbers[i]; });
  return sum;
}

unsigned deepest_bank(const LaneAddresses& lanes, std::uint32_t mask) {
  if (mask == 0) return 0;
  std::uint64_t different[kLanes];  // from lane to lane
  unsigned lanes_that_differ = 0;
  std::uint64_t previous = ~std::uint64_t{0}, lowest = ~std::uint64_t{0}, highest = 0;
  for_each_lane(mask, [&](unsigned i) {
    if (lanes.address[i] == previous) return;
    previous = lanes.address[i];
    different[lanes_that_differ++] = previous;
    lowest = std::min(lowest, previous);
    highest = std::max(highest, previous);
  });
  // Words within one stretch of as many as there are banks, as of most instructions.
  if ((highest + lanes.bytes - 1) / 4 - lowest / 4 < kBanks) return 1;
  std::uint64_t words[kLanes * 4];
  unsigned n = 0;
  std::uint64_t holder[kBanks];
  std::uint32_t held = 0;
  bool conflict = false;
  for (unsigned i = 0; i < lanes_that_differ; ++i) {
    const std::uint64_t first = different[i] / 4, last = (different[i] + lanes.bytes - 1) / 4;
    for (std::uint64_t word = first; word <= last; ++word) {
      const auto bank = static_cast<unsigned>(word % kBanks);
      if (!(held >> bank & 1u)) {
        held |= 1u << bank;
        holder[bank] = word;
      } else if (holder[bank] == word) {
        continue;
      } else {
        conflict = true;
      }
      if (n < std::size(words)) words[n++] = word;
    }
  }
  if (!conflict) return 1;
  std::sort(words, words + n);
  n = static_cast<unsigned>(std::unique(words, words + n) - words);
  unsigned depth[kBanks] = {}, deepest = 0;
  for (unsigned k = 0; k < n; ++k) deepest = std::max(deepest, ++depth[words[k] % kBanks]);
  return deepest;
}

unsigned matrix_load_wavefronts(const LaneAddresses& lanes) {
  unsigned total = 0;
  for (unsigned first = 0; first < kLanes; first += 8) total += deepest_bank(lanes, lanes.mask & 0xFFu << first);
  return total;
}

unsigned ideal_matrix_load_wavefronts(const LaneAddresses& lanes) {
  unsigned total = 0;
  for (unsigned first = 0; first < kLanes; first += 8) total += (lanes.mask & 0xFFu << first) != 0;
  return total;
}

unsigned distinct_sectors(const LaneAddresses& lanes, std::uint64_t* sectors) {
  unsigned n = 0;
  bool increasing = true;
  std::uint64_t newest = ~std::uint64_t{0};  // of the sectors
  for_each_lane(lanes.mask, [&](unsigned i) {
    const std::uint64_t first = lanes.address[i] / kSectorBytes;
    const std::uint64_t last = (lanes.address[i] + lanes.bytes - 1) / kSectorBytes;
    if (last == newest && first == newest) return;
    for (std::uint64_t sector = first; sector <= last; ++sector) {
      if (sector == newest) continue;
      increasing = increasing && (n == 0 || newest < sector);
      sectors[n++] = newest = sector;
    }
  });
  if (increasing) return n;
  std::sort(sectors, sectors + n);
  return static_cast<unsigned>(std::unique(sectors, sectors + n) - sectors);
}

unsigned ideal_sectors(const LaneAddresses& lanes, unsigned touched) {
  // Different addresses, seen from lane to lane: too many when lanes far apart repeat one, but then `touched` bounds it.
  unsigned different = 0;
  std::uint64_t last = ~std::uint64_t{0};
  for_each_lane(lanes.mask, [&](unsigned i) {
    different += lanes.address[i] != last;
    last = lanes.address[i];
  });
  return std::min(touched, (different * lanes.bytes + kSectorBytes - 1) / kSectorBytes);
}

unsigned atomic_sectors(const LaneAddresses& lanes) {
  std::uint64_t address[kLanes];
  unsigned n = 0;
  for (std::uint32_t rest = lanes.mask; rest != 0; rest &= rest - 1)
    address[n++] = lanes.address[std::countr_zero(rest)];
  std::sort(address, address + n);
  unsigned total = 0;
  for (unsigned i = 0; i < n;) {
    const std::uint64_t sector = address[i] / kSectorBytes;
    unsigned most = 0;
    while (i < n && address[i] / kSectorBytes == sector) {
      unsigned same = 1;
      while (i + same < n && address[i + same] == address[i]) ++same;
      most = std::max(most, same);
      i += same;
    }
    total += most;
  }
  return total;
}

namespace {

// Calls `pass(lanes)` for the groups of lanes that go together, and sums what it returns.
template <class Pass>
unsigned sum_of_passes(const LaneAddresses& lanes, bool is_load, Pass pass) {
  if (lanes.bytes <= 4) return pass(lanes.mask);
  if (is_load && lanes.bytes == 16 && lanes.mask != 0 &&
      one_for_all(lanes))  // then sixteen lanes at a time, wherever they are
    return std::popcount(lanes.mask) <= 16 ? 1 : 2;
  // The lanes that could share a pass if neighbours agree (8 bytes: the warp, 16 bytes: a half), each in two parts.
  const unsigned together = lanes.bytes <= 8 ? 32 : 16;
  unsigned total = 0;
  for (unsigned first = 0; first < kLanes; first += together) {
    const std::uint32_t group = together == 32 ? ~0u : 0xFFFFu << first;
    const std::uint32_t active = lanes.mask & group;
    if (is_load && neighbours_agree(lanes, group) && deepest_bank(lanes, active) <= 1) {
      total += pass(active);
      continue;
    }
    const std::uint32_t low = (together == 32 ? 0xFFFFu : 0xFFu) << first;
    total += pass(active & low) + pass(active & ~low);
  }
  return total;
}

}  // namespace

unsigned shared_wavefronts(const LaneAddresses& lanes, bool is_load) {
  return sum_of_passes(lanes, is_load, [&](std::uint32_t mask) { return deepest_bank(lanes, mask); });
}

unsigned ideal_wavefronts(const LaneAddresses& lanes, bool is_load) {
  return sum_of_passes(lanes, is_load, [&](std::uint32_t mask) { return mask != 0 ? 1u : 0u; });
}

unsigned copied_sectors(const LaneAddresses& lanes, const std::uint64_t* to) {
  constexpr std::uint64_t kCacheLine = 128;
  std::pair<std::uint64_t, std::uint64_t> pairs[kLanes];
  unsigned n = 0;
  for (std::uint32_t rest = lanes.mask; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(rest));
    pairs[n++] = {lanes.address[i] / kCacheLine, to[i] / kSectorBytes};
  }
  std::sort(pairs, pairs + n);
  return static_cast<unsigned>(std::unique(pairs, pairs + n) - pairs);
}

namespace {

// The words of these lanes, by the bank that each leaves and the bank that it goes to.
struct CopiedWords {
  unsigned from[kBanks] = {}, to[kBanks] = {}, both[kBanks][kBanks] = {};

  CopiedWords(std::uint32_t mask, const LaneAddresses& lanes, const std::uint64_t* target) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(rest));
      for (unsigned w = 0; w < lanes.bytes / 4; ++w) {
        const std::uint64_t out = (lanes.address[i] / 4 + w) % kBanks, in = (target[i] / 4 + w) % kBanks;
        ++from[out], ++to[in], ++both[out][in];
      }
    }
  }
};

}  // namespace

CopyPasses copy_passes(const LaneAddresses& lanes, std::uint32_t read_mask, const std::uint64_t* to) {
  CopyPasses passes{};
  if (lanes.bytes == 16) return passes;
  const std::uint32_t halves[] = {lanes.bytes == 4 ? ~0u : 0xFFFFu, lanes.bytes == 4 ? 0u : 0xFFFF0000u};
  for (const std::uint32_t half : halves) {
    const std::uint32_t copied = lanes.mask & read_mask & half, filled = lanes.mask & ~read_mask & half;
    if (copied != 0) {
      const CopiedWords words(copied, lanes, to);
      unsigned most = 0;  // words that share a bank with one of them, itself included
      for (unsigned out = 0; out < kBanks; ++out)
        for (unsigned in = 0; in < kBanks; ++in)
          if (const unsigned n = words.both[out][in]; n != 0) most = std::max(most, words.from[out] + words.to[in] - n);
      passes.wavefronts += most;
      passes.at_least +=
          std::max(*std::max_element(words.from, words.from + kBanks), *std::max_element(words.to, words.to + kBanks));
    }
    if (filled != 0) {
      const CopiedWords words(filled, lanes, to);
      const unsigned zeros = *std::max_element(words.to, words.to + kBanks);
      passes.wavefronts += zeros;
      passes.at_least += zeros;
    }
  }
  return passes;
}

}  // namespace tilewise::sim::model
