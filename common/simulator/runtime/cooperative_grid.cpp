// Cooperative launches: all blocks of the grid are there at once, and may wait for each other.
//
// Blocks still run one after another. One that has come to the grid's barrier is suspended: its threads keep their stacks,
// and it keeps its shared memory, which is a region of its own. When all blocks wait there, they go on in the same order.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/devices.hpp"
#include "base/findings.hpp"
#include "base/symbols.hpp"
#include "cuda_runtime_api.h"
#include "model/observer.hpp"
#include "runtime/api.hpp"
#include "runtime/errors.hpp"
#include "runtime/scheduler.hpp"

namespace tilewise::sim {

/// What is put away of a block while another one runs.
struct SuspendedBlock {
  Suspension why;
  uint3 index;
  std::uint64_t serial, epoch;
  std::size_t slot;  // of shared memory
  unsigned live, waiting, predicate_count, at_grid_barrier;
  std::size_t shared_used;
  std::vector<Lane> lanes;
  std::vector<Warp> warps;
  std::vector<std::pair<SharedVariable*, void*>> variables;
  observer::SuspendedBlock observed;
};

namespace {

char* reserve_shared_memory_of(std::size_t blocks) {
  void* region = mmap(nullptr, blocks * 2 * kSharedRegion, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) {
    std::fputs("tilewise simulator: cannot reserve shared memory for all blocks of a cooperative launch\n", stderr);
    std::exit(1);
  }
#if defined(MADV_NOHUGEPAGE)
  madvise(region, blocks * 2 * kSharedRegion, MADV_NOHUGEPAGE);  // of each, the beginning of two pieces is in use
#endif
  return static_cast<char*>(region);
}

std::size_t most_blocks() {
  const Device& card = device();
  return static_cast<std::size_t>(card.multiprocessors) * static_cast<std::size_t>(card.max_blocks_per_multiprocessor);
}

}  // namespace

/// Slot 0 is the memory that blocks of ordinary launches have.
void Scheduler::use_shared_memory_of(std::size_t slot) {
  static char* const first = shared_begin;
  if (slot != 0 && more_shared == nullptr) more_shared = reserve_shared_memory_of(most_blocks());
  shared_begin = slot == 0 ? first : more_shared + (slot - 1) * 2 * kSharedRegion;
}

SuspendedBlock Scheduler::suspend(std::size_t slot) {
  if (suspension == Suspension::at_grid_barrier) look_at_grid_barrier();
  SuspendedBlock block{suspension,
                       the_launch.block,
                       the_launch.block_serial,
                       the_launch.epoch,
                       slot,
                       live,
                       waiting,
                       predicate_count,
                       at_grid_barrier,
                       shared_used,
                       {},
                       {},
                       {},
                       {}};
  block.lanes.assign(lanes, lanes + thread_count);
  block.warps.assign(warps, warps + warp_count);
  for (SharedVariable* variable : met) block.variables.emplace_back(variable, variable->address);
  observer::suspend_block(block.observed);
  return block;
}

void Scheduler::put_back(SuspendedBlock& block) {
  use_shared_memory_of(block.slot);
  the_launch.block = block.index;
  the_launch.block_serial = block.serial;
  the_launch.epoch = block.epoch + 1;
  live = block.live;
  waiting = block.waiting;
  predicate_count = block.predicate_count;
  at_grid_barrier = block.at_grid_barrier;
  shared_used = block.shared_used;
  std::copy(block.lanes.begin(), block.lanes.end(), lanes);
  std::move(block.warps.begin(), block.warps.end(), warps);
  met.clear();
  for (const auto& [variable, address] : block.variables) {
    variable->block = block.serial;
    variable->address = address;
    met.push_back(variable);
  }
  observer::resume_block(block.observed);
}

// The threads of the running block go on after it.
void Scheduler::release_grid_barrier() {
  at_grid_barrier = 0;
  for (unsigned l = 0; l < thread_count; ++l) {
    if (lanes[l].state != LaneState::at_grid_barrier) continue;
    lanes[l].state = LaneState::ready;
    warps[l / kWarpSize].ready |= 1u << (l % kWarpSize);
  }
}

// All threads of the block that have not ended wait at the barrier: in one place, and are these all?
void Scheduler::look_at_grid_barrier() {
  if (!observer::checking) return;
  const Lane *first = nullptr, *other = nullptr, *ended = nullptr;
  unsigned count = 0;
  for (const Lane* lane = lanes; lane != lanes + thread_count; ++lane) {
    if (lane->state == LaneState::done) {
      ended = ended ? ended : lane;
      ++count;
      continue;
    }
    if (!first) first = lane;
    if (!other && (lane->wait_site != first->wait_site || lane->wait_barrier != first->wait_barrier ||
                   !in_same_iteration(*lane, *first) || lane->call_context != first->call_context))
      other = lane;
  }
  if (other) report_divergent_barrier(*first, *other, "grid's barrier", "the grid");
  if (!ended) return;
  std::string message = fmt::format(
      "this thread waits at the grid's barrier of this line, but {} of its block, thread {} for one, {} already: all "
      "threads of the grid must reach it",
      count == 1 ? "one thread" : fmt::format("{} threads", count), thread_triple(*ended),
      count == 1 ? "has returned" : "have returned");
  report_finding(finding_of("divergent-barrier", std::move(message), *first, first->wait_site));
}

// The running block waits at the grid's barrier, and others will never come.
void Scheduler::report_incomplete_grid(std::size_t ended, uint3 one_of_them) {
  const Lane* const waits = std::find_if(lanes, lanes + thread_count,
                                         [](const Lane& lane) { return lane.state == LaneState::at_grid_barrier; });
  const dim3 grid = the_launch.config.grid;
  std::string message = fmt::format(
      "the grid never ends: this thread waits at the grid's barrier of this line, and {} of {} blocks, block "
      "({},{},{}) "
      "for one, {} ended without coming to it; all threads of the grid must reach it",
      grouped_digits(ended), grouped_digits(std::uint64_t{grid.x} * grid.y * grid.z), one_of_them.x, one_of_them.y,
      one_of_them.z, ended == 1 ? "has" : "have");
  fail(finding_of("deadlock", std::move(message), *waits, waits->wait_site));
}

void Scheduler::run_cooperative_grid() {
  const dim3 grid = the_launch.config.grid;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  std::vector<SuspendedBlock> waiting_blocks, polling;
  std::vector<std::size_t> slots;  // of shared memory, that blocks which have ended had
  std::size_t slots_used = 0, ended = 0;
  uint3 ended_block{};
  const auto put_away = [&](std::size_t slot) {
    if (suspension == Suspension::none) {
      slots.push_back(slot);
      ++ended;
      ended_block = the_launch.block;
    } else {
      auto& list = suspension == Suspension::polls ? polling : waiting_blocks;
      list.push_back(suspend(slot));
    }
  };
  for (std::uint64_t n = 0; n < blocks && !aborted; ++n) {
    if (slots.empty()) slots.push_back(slots_used++);
    const std::size_t slot = slots.back();
    slots.pop_back();
    use_shared_memory_of(slot);
    met.clear();
    the_launch.block = nth_block(n, grid);
    run_block();
    if (!aborted) put_away(slot);
  }
  const std::uint64_t last_serial = the_launch.block_serial;
  while (!aborted && !(polling.empty() && waiting_blocks.empty())) {
    auto& list = polling.empty() ? waiting_blocks : polling;
    if (&list == &waiting_blocks && ended != 0) {
      put_back(list.front());
      report_incomplete_grid(ended, ended_block);
      break;
    }
    observer::grid_goes_on();
    for (SuspendedBlock& block : std::exchange(list, {})) {
      put_back(block);
      if (block.why == Suspension::at_grid_barrier) release_grid_barrier();
      run_threads();
      if (aborted) break;
      put_away(block.slot);
    }
  }
  the_launch.block_serial = last_serial;
  use_shared_memory_of(0);
}

void sync_grid() {
  void* const site = __builtin_return_address(0);
  Unobserved guard;
  Scheduler& s = scheduler();
  if (!current_lane) {
    std::fputs("tilewise simulator: a grid's sync() was called by host code\n", stderr);
    std::exit(1);
  }
  Lane& lane = *current_lane;
  if (!the_launch.config.cooperative) {
    end_launch_for("not-cooperative",
                   "this thread calls sync() of the whole grid in a kernel that was launched with <<< >>>, where "
                   "is_valid() is false: launch it with cudaLaunchCooperativeKernel()",
                   lane, site, cudaErrorLaunchFailure);
  }
  ++s.at_grid_barrier;
  lane.wait_barrier = lane.next_barrier;
  lane.next_barrier = 0;
  idle_polls = 0;
  wait_in(LaneState::at_grid_barrier, site);
}

bool is_cooperative() { return the_launch.config.cooperative; }

}  // namespace tilewise::sim
