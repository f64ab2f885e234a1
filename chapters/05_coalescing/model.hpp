// The cost of a request by formula, which lesson 05 compares with the counts.
#pragma once

#include <cstdint>

// [model]
/// Sectors of 32 bytes that `lanes` lanes touch together, when each takes a word of `bytes` bytes
/// (4, 8 or 16), neighbours are `stride` words apart, and lane 0 takes the word at position
/// `offset`, counted from the start of a sector.
constexpr std::uint64_t sectors_of_request(std::uint64_t lanes, std::uint64_t bytes,
                                           std::uint64_t stride, std::uint64_t offset = 0) {
  if (lanes == 0) return 0;
  const std::uint64_t step = bytes * stride;  // from lane to lane, in bytes
  // each lane has a sector to itself, since no word lies in two
  if (step >= 32) return lanes;
  const std::uint64_t begin = bytes * offset % 32;
  const std::uint64_t end = begin + (lanes - 1) * step + bytes;
  return (end + 31) / 32;  // steps shorter than a sector skip none
}
// [model]

/// Requests for `count` words, a word per lane.
constexpr std::uint64_t requests_of_words(std::uint64_t count) { return (count + 31) / 32; }

/// Sectors of all these requests together. Every warp begins 32 strides after the one before, which
/// is a multiple of a sector: all warps are alike, but for the last, which may be short of lanes.
constexpr std::uint64_t sectors_of_words(std::uint64_t count, std::uint64_t bytes,
                                         std::uint64_t stride, std::uint64_t offset = 0) {
  return count / 32 * sectors_of_request(32, bytes, stride, offset) +
         sectors_of_request(count % 32, bytes, stride, offset);
}
