// Launches, blocks and barriers begin and end: what comes before what.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/findings.hpp"
#include "model/checker.hpp"
#include "model/checker/bounds.hpp"
#include "model/checker/race_reports.hpp"
#include "model/checker/state.hpp"
#include "model/race_search.hpp"

namespace tilewise::sim::checker {

void begin_launch(const Launch& launch) {
  State& s = state();
  s.launch_first = s.interval + 1;
  s.uses = order::unordered_uses();
  s.unordered_first = order::launches(s.launch_first, launch.serial);
  s.notes_constants = !order::has_default_streams_only();
  race_search::begin_launch(launch, observer::counting || shows_no_findings() || corners_only);
  memory::set_kernel_fault(fault);
  s.blocks.clear();
  s.handed_over.clear();
  s.fenced_within_block = s.fenced_in_launch = false;
}

std::uint32_t last_interval() { return state().interval; }

void end_block() {
  State& s = state();
  if (s.doubt.address) settle_doubt(s);
}

// The running block, in an interval of its own.
static void enter_block(State& s) {
  const Launch& launch = running_launch();
  s.block_first = s.epoch_first = ++s.interval;
  s.indexed_wrongly = nullptr;
  s.blocks.emplace_back(s.block_first, launch.block);
  s.fences.reset();
  s.taken_over.clear();
  const dim3 b = launch.config.block;
  const unsigned warps = (b.x * b.y * b.z + kWarpSize - 1) / kWarpSize;
  for (unsigned w = 0; w < warps; ++w) s.clocks[w].reset();
}

void begin_block() {
  State& s = state();
  const Launch& launch = running_launch();
  enter_block(s);
  s.shared_first = s.block_first;
  s.fenced = false;
  s.pieces.clear();
  forget(s.known_in_block);
  if (launch.config.shared != 0) {
    const auto begin = reinterpret_cast<std::uintptr_t>(shared_begin + kSharedRegion);
    s.pieces.push_back({begin, begin + launch.config.shared, nullptr});
  }
}

void suspend_block(observer::SuspendedBlock& block) {
  State& s = state();
  if (s.doubt.address) settle_doubt(s);
  block.pieces = s.pieces;
  block.first_interval = s.shared_first;
  block.fenced = s.fenced;
}

void resume_block(observer::SuspendedBlock& block) {
  State& s = state();
  enter_block(s);
  forget(s.known_in_block);
  s.pieces = std::move(block.pieces);
  s.shared_first = block.first_interval;
  s.fenced = block.fenced;
}

// From here on the launch is checked like a new one, but for what its blocks have in shared memory.
void grid_goes_on() {
  State& s = state();
  const bool alone = s.unordered_first == s.launch_first;
  s.launch_first = s.interval + 1;
  if (alone) s.unordered_first = s.launch_first;
  s.blocks.clear();
  s.taken_over.clear();
  s.handed_over.clear();
}

void block_barrier() {
  State& s = state();
  if (s.doubt.address) settle_doubt(s);
  s.epoch_first = ++s.interval;
  s.fences.pass_barrier();
  for (TakenOver& taken : s.taken_over) taken.pass_barrier();
}

// The warp's times are full.
[[gnu::noinline]] static void begin_times_anew(State& s, unsigned warp) {
  s.clocks[warp].begin_anew(++s.interval);
  s.fences.begin_anew(warp, s.interval);
}

void warp_meeting(unsigned warp, std::uint32_t arrived) {
  State& s = state();
  if (s.clocks[warp].meet(arrived)) [[unlikely]]
    begin_times_anew(s, warp);
  if (s.fences.warps[warp].any) s.fences.warps[warp].meet(arrived);
  for (TakenOver& taken : s.taken_over) taken.meet(warp, arrived);
  std::uint32_t* acquired = s.acquired + warp * kWarpSize;
  std::uint32_t most = 0;
  for (std::uint32_t rest = arrived; rest != 0; rest &= rest - 1)
    most = std::max(most, acquired[std::countr_zero(rest)]);
  if (most < s.epoch_first) return;
  for (std::uint32_t rest = arrived; rest != 0; rest &= rest - 1) acquired[std::countr_zero(rest)] = most;
}

void fence(const Lane& lane, bool within_block) {
  State& s = state();
  s.fenced = true;
  s.fenced_within_block |= within_block;
  if (!s.fenced_in_launch) {  // from here on atomic and volatile accesses may hand on, or take over
    s.fenced_in_launch = true;
    forget(s.known);
    forget(s.known_in_block);
  }
  if (within_block) return;
  const unsigned warp = lane.linear / kWarpSize, l = lane.linear % kWarpSize;
  WarpClock& clock = s.clocks[warp];
  s.fences.any = true;
  s.fences.warps[warp].add(l, s.epoch_first, clock);
  ++clock.time[l];  // what this lane does from now on is later than the fence
  if (clock.time[l] == WarpClock::kFull) begin_times_anew(s, warp);
  for (TakenOver& taken : s.taken_over)
    if (taken.known[lane.linear]) taken.fenced.set(lane.linear);
}

void forget_memory(std::uintptr_t begin, std::size_t bytes) {
  State& s = state();
  if (s.doubt.address) settle_doubt(s);
  s.shadow.words.give_back(begin, begin + bytes);
  s.shadow.bytes.give_back(begin, begin + bytes);
}

void forget_visits(std::uintptr_t begin) {
  State& s = state();
  for (Visited& v : s.visited)
    if (v.inside.begin == begin) v = {};
  forget(s.known);
}

void add_shared(const SharedVariable& variable, const char* place) {
  const auto begin = reinterpret_cast<std::uintptr_t>(place);
  state().pieces.push_back({begin, begin + variable.bytes, &variable});
}

void end_launch() {
  State& s = state();
  end_block();  // one that was aborted
  forget(s.known);
  forget(s.known_in_block);
  race_search::end_launch(running_launch());
  show_findings();
}

}  // namespace tilewise::sim::checker
