// A barrier in one word of memory: what cuda::barrier and cuda::pipeline are made of. runtime/block_barriers.cpp implements it.
#pragma once

#include <cstdint>

#include "tilewise_sim/device.hpp"

namespace tilewise::sim::barrier {

/// Threads arrive; when as many have as are expected, the next phase begins.
struct alignas(8) Word {
  std::uint32_t phase;
  std::uint16_t expected, missing;
};

/// Of all threads that have arrived in a phase, what they did before is ordered before what a thread does after its wait.
void begin(Word& word, std::uint32_t expected);
/// Returns the phase of the arrival. `dropped`: so many are expected no more, from the next phase on.
TILEWISE_DISTINCT std::uint32_t arrive(Word& word, std::uint32_t count, std::uint32_t dropped);
bool is_over(Word& word, std::uint32_t phase);
TILEWISE_DISTINCT void wait(Word& word, std::uint32_t phase);

/// The barriers of all tiles of 64, 128, 256, 512 and 1024 threads that a block can have, in this order.
struct TileWords {
  static constexpr unsigned kMany = 16 + 8 + 4 + 2 + 1;
  std::uint64_t block;  // whose they are: others find what an earlier block left
  Word words[kMany];
};
/// Waits until `threads` threads have come to that one, which begins with the first of them.
TILEWISE_DISTINCT void meet(TileWords& tiles, unsigned which, unsigned threads);

}  // namespace tilewise::sim::barrier
