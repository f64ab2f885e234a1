// The blocks of a launch: all of them, a sample, or its corners.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include "base/findings.hpp"
#include "base/symbols.hpp"
#include "base/thread.hpp"
#include "model/observer.hpp"
#include "runtime/scheduler.hpp"

namespace tilewise::sim {

namespace {

constexpr std::uint64_t kAccessesOfCorner = 100'000;

bool reverse_from_environment() {
  const char* order = std::getenv("TILEWISE_BLOCKS");
  if (order == nullptr || std::strcmp(order, "forward") == 0) return false;
  if (std::strcmp(order, "reverse") == 0) return true;
  std::fprintf(stderr, "tilewise simulator: TILEWISE_BLOCKS is \"%s\", but forward and reverse are the orders\n",
               order);
  std::exit(2);
}

bool blocks_in_reverse() {
  static const bool reverse = reverse_from_environment();
  return reverse;
}

std::uint64_t index_of(uint3 block, dim3 grid) {
  return (std::uint64_t{block.z} * grid.y + block.y) * grid.x + block.x;
}

}  // namespace

uint3 nth_block(std::uint64_t n, dim3 grid) {
  if (blocks_in_reverse()) n = std::uint64_t{grid.x} * grid.y * grid.z - 1 - n;
  return {static_cast<unsigned>(n % grid.x), static_cast<unsigned>(n / grid.x % grid.y),
          static_cast<unsigned>(n / grid.x / grid.y)};
}

// Said once for each kernel.
void Scheduler::say_all_are_run() const {
  static auto& told = *new std::set<const void*>;
  if (!told.insert(the_launch.kernel).second) return;
  const dim3 grid = the_launch.config.grid;
  std::fprintf(stderr,
               "tilewise: all %s blocks of %s are run, not a sample of them: they may depend on each other, since %s\n",
               grouped_digits(std::uint64_t{grid.x} * grid.y * grid.z).c_str(),
               function_name(the_launch.kernel).c_str(), observer::dependence().c_str());
}

// Some blocks in place of all, until one does what may make it depend on others.
void Scheduler::run_sample() {
  const dim3 grid = the_launch.config.grid;
  for (const Stratum& stratum : observer::sample()) {
    for (const uint3 block : stratum.blocks) {
      the_launch.block = block;
      done.push_back(index_of(block, grid));
      run_block();
      if (aborted) return;
      if (observer::blocks_depend()) return say_all_are_run();
      observer::end_sample_block();
    }
    observer::end_stratum();
  }
}

// What has the largest indices comes first.
void Scheduler::run_corner_blocks() {
  const dim3 grid = the_launch.config.grid;
  for (unsigned corner = 8; corner-- > 0;) {
    const bool x = corner & 1u, y = corner & 2u, z = corner & 4u;
    if ((x && grid.x == 1) || (y && grid.y == 1) || (z && grid.z == 1)) continue;
    the_launch.block = {x ? grid.x - 1 : 0, y ? grid.y - 1 : 0, z ? grid.z - 1 : 0};
    corner_accesses_left = kAccessesOfCorner;
    run_block();
    if (suspension != Suspension::none) abandon_workers();  // what comes after a grid's barrier is not looked at
    if (!aborted) continue;
    if (corner_accesses_left != 0) return;
    abandon_workers();
    aborted = false;
  }
}

void Scheduler::run_grid() {
  const dim3 block = the_launch.config.block, grid = the_launch.config.grid;
  thread_count = block.x * block.y * block.z;
  warp_count = (thread_count + kWarpSize - 1) / kWarpSize;
  unsigned l = 0;
  for (unsigned z = 0; z < block.z; ++z)
    for (unsigned y = 0; y < block.y; ++y)
      for (unsigned x = 0; x < block.x; ++x, ++l) {
        lanes[l].index = uint3{x, y, z};
        lanes[l].linear = l;
      }
  done.clear();
  if (corners_only) return run_corner_blocks();
  if (the_launch.config.cooperative) {
    const bool sampled = !observer::sample().empty();
    observer::note_dependence(the_launch.site, "makes a cooperative launch");
    run_cooperative_grid();
    if (sampled && the_launch.kernel) say_all_are_run();
    return;
  }
  if (!observer::sample().empty()) {
    run_sample();
    if (!observer::blocks_depend()) return;
  }
  std::sort(done.begin(), done.end());
  const bool reverse = blocks_in_reverse();
  for (unsigned z = 0; z < grid.z && !aborted; ++z)
    for (unsigned y = 0; y < grid.y && !aborted; ++y)
      for (unsigned x = 0; x < grid.x && !aborted; ++x) {
        the_launch.block = reverse ? uint3{grid.x - 1 - x, grid.y - 1 - y, grid.z - 1 - z} : uint3{x, y, z};
        if (done.empty() || !std::binary_search(done.begin(), done.end(), index_of(the_launch.block, grid)))
          run_block();
      }
}

}  // namespace tilewise::sim
