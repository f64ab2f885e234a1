#include "model/l1.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::sim::model {
namespace {

// The groups of lanes that go through the data stage together: the warp, its halves, or its quarters.
unsigned groups(std::uint32_t bytes) { return bytes <= 4 ? 1 : bytes / 4; }

std::uint32_t group_mask(unsigned groups, unsigned index) {
  const unsigned lanes = kLanes / groups;
  return (groups == 1 ? ~0u : (1u << lanes) - 1) << (index * lanes);
}

}  // namespace

unsigned tag_bank(std::uint64_t line) {
  // Each bit of the bank's number is the parity of some bits of the line's: found with pairs of lines on an H200, up to
  // bit 27. Higher ones do not differ within 32 GB that begin at a multiple of as much.
  constexpr std::uint64_t kLow = 0x5ef7ab5, kHigh = 0xebad5da;
  return static_cast<unsigned>(std::popcount(line & kLow) & 1) | static_cast<unsigned>(std::popcount(line & kHigh) & 1)
                                                                     << 1;
}

unsigned tag_passes(const std::uint64_t* sectors, unsigned n) {
  constexpr unsigned kSectorsOfLine = kLineBytes / kSectorBytes;
  if (n != 0 && sectors[0] / kSectorsOfLine == sectors[n - 1] / kSectorsOfLine) return 1;
  unsigned lines[kTagBanks] = {};
  std::uint64_t last = ~std::uint64_t{0};
  for (unsigned i = 0; i < n; ++i) {
    const std::uint64_t line = sectors[i] / kSectorsOfLine;
    if (line != last) ++lines[tag_bank(line)];
    last = line;
  }
  return *std::max_element(lines, lines + kTagBanks);
}

unsigned data_passes(const LaneAddresses& lanes) {
  const unsigned parts = groups(lanes.bytes);
  unsigned passes = 0;
  for (unsigned part = 0; part < parts; ++part) passes += deepest_bank(lanes, lanes.mask & group_mask(parts, part));
  return passes;
}

unsigned ideal_data_passes(const LaneAddresses& lanes) {
  const unsigned parts = groups(lanes.bytes);
  unsigned passes = 0;
  for (unsigned part = 0; part < parts; ++part) passes += (lanes.mask & group_mask(parts, part)) != 0;
  return passes;
}

}  // namespace tilewise::sim::model
