#include "model/warp_instruction.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace tilewise::sim::model {
namespace {

// Phases of a wide shared access: which lanes go together.
struct Phases {
  unsigned count;
  unsigned lanes_each;
};

// True when every active lane's neighbour (lane ^ distance) is inactive or asks for the same address.
bool neighbours_agree(const LaneAddresses& lanes, unsigned distance) {
  for (std::uint32_t rest = lanes.mask; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(rest));
    const unsigned other = i ^ distance;
    if ((lanes.mask >> other & 1u) && lanes.address[other] != lanes.address[i]) return false;
  }
  return true;
}

Phases phases(const LaneAddresses& lanes) {
  unsigned count = lanes.bytes <= 4 ? 1 : lanes.bytes <= 8 ? 2 : 4;
  if (count > 1 && (neighbours_agree(lanes, 1) || neighbours_agree(lanes, 2))) count /= 2;
  return {count, kLanes / count};
}

std::uint32_t lanes_of_phase(const Phases& p, unsigned phase) {
  const std::uint32_t all = p.lanes_each == 32 ? ~0u : (1u << p.lanes_each) - 1;
  return all << (phase * p.lanes_each);
}

// Most distinct words that any one bank must deliver to these lanes.
unsigned deepest_bank(const LaneAddresses& lanes, std::uint32_t mask) {
  if (mask == 0) return 0;
  std::uint64_t words[kLanes * 4];
  unsigned n = 0;
  std::uint64_t holder[kBanks];
  std::uint32_t held = 0;
  bool conflict = false;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t first = lanes.address[i] / 4, last = (lanes.address[i] + lanes.bytes - 1) / 4;
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

}  // namespace

unsigned distinct_sectors(const LaneAddresses& lanes, std::uint64_t* sectors) {
  unsigned n = 0;
  bool increasing = true;
  for (std::uint32_t rest = lanes.mask; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t first = lanes.address[i] / kSectorBytes;
    const std::uint64_t last = (lanes.address[i] + lanes.bytes - 1) / kSectorBytes;
    for (std::uint64_t sector = first; sector <= last; ++sector) {
      if (n != 0 && sectors[n - 1] == sector) continue;
      increasing = increasing && (n == 0 || sectors[n - 1] < sector);
      sectors[n++] = sector;
    }
  }
  if (increasing) return n;
  std::sort(sectors, sectors + n);
  return static_cast<unsigned>(std::unique(sectors, sectors + n) - sectors);
}

unsigned shared_wavefronts(const LaneAddresses& lanes) {
  const Phases p = phases(lanes);
  unsigned total = 0;
  for (unsigned phase = 0; phase < p.count; ++phase) total += deepest_bank(lanes, lanes.mask & lanes_of_phase(p, phase));
  return total;
}

unsigned ideal_wavefronts(const LaneAddresses& lanes) {
  const Phases p = phases(lanes);
  unsigned total = 0;
  for (unsigned phase = 0; phase < p.count; ++phase) total += (lanes.mask & lanes_of_phase(p, phase)) != 0;
  return total;
}

}  // namespace tilewise::sim::model
