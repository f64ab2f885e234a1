// TILEWISE_SAMPLE: some blocks of a launch are run and counted in place of all.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewise_sim/device.hpp"

namespace tilewise::sim {

/// Blocks that stand for all of their kind.
struct Stratum {
  std::uint64_t size = 0;     ///< how many there are of that kind
  std::vector<uint3> blocks;  ///< those that are run
};

/// About `wanted` blocks of a grid. Blocks are of one kind when they agree, in x, y and z, in being the first, the last or
/// one between: corners, edges, faces and the inside, at most 27 kinds. At least one of each kind is chosen, the others
/// where most are, spread evenly. The first of the first kind is block (0,0,0). Empty when that would be the whole grid,
/// and when `wanted` is 0.
std::vector<Stratum> choose_blocks(dim3 grid, std::uint64_t wanted);

/// `count` blocks stand for `size`: the whole's count, rounded to nearest, from theirs.
constexpr std::uint64_t scaled(std::uint64_t n, std::uint64_t size, std::uint64_t count) {
  return n / count * size + (n % count * size + count / 2) / count;
}

/// A launch of the program has been run in part.
void note_sampled_launch();

/// At the end of a program that asked for samples with TILEWISE_SAMPLE: one line on stderr, if there were any.
void say_what_was_sampled();

}  // namespace tilewise::sim
