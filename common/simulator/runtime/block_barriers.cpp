// Barriers in memory: cuda::barrier and cuda::pipeline. A thread that waits lets others run; to the checker, arrivals and waits are
// atomics on the barrier's word with fences round them. They aren't counted: a GPU has instructions of their own for them.
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "base/findings.hpp"
#include "base/memory.hpp"
#include "base/thread.hpp"
#include "driver_types.h"
#include "model/observer.hpp"
#include "tilewise_device/block_barrier_word.hpp"

namespace tilewise::sim {

bool is_shared(const void* pointer) {
  const auto* p = static_cast<const char*>(pointer);
  return p >= shared_begin && p < shared_begin + 2 * kSharedRegion;
}
bool is_global(const void* pointer) {
  Unobserved guard;
  return memory::in_arenas(reinterpret_cast<std::uintptr_t>(pointer)) || memory::find(pointer) != nullptr;
}

namespace barrier {
namespace {

using observer::Access;

Lane& calling_thread() {
  if (current_lane == nullptr) unsupported("cuda::barrier in host code");
  return *current_lane;
}

/// What the thread did is handed over with the arrival, and what others did with the wait.
void looks(Lane& lane, const Word& word, Access kind, const void* site) {
  if (observer::checking) observer::look(lane, &word, sizeof word, kind, site);
}

[[noreturn]] void refuse(Lane& lane, std::string message, const void* site) {
  end_launch_for("barrier-count", std::move(message), lane, site, cudaErrorLaunchFailure);
}

// Later phases count, too: a pipeline asks for one that may be long over.
bool has_begun_after(const Word& word, std::uint32_t phase) {
  return static_cast<std::int32_t>(word.phase - phase) > 0;
}

}  // namespace

void begin(Word& word, std::uint32_t expected) {
  Lane& lane = calling_thread();
  const void* site = __builtin_return_address(0);
  Unobserved guard;
  if (expected > std::numeric_limits<std::uint16_t>::max())
    refuse(lane, fmt::format("a barrier for {} threads: there can be 65,535 at most", expected), site);
  looks(lane, word, Access::store, site);
  word = {0, static_cast<std::uint16_t>(expected), static_cast<std::uint16_t>(expected)};
}

std::uint32_t arrive(Word& word, std::uint32_t count, std::uint32_t dropped) {
  Lane& lane = calling_thread();
  const void* site = __builtin_return_address(0);
  Unobserved guard;
  if (observer::active()) observer::device_fence(lane, true);
  looks(lane, word, Access::atomic, site);
  idle_polls = 0;
  const std::uint32_t phase = word.phase;
  if (count > word.missing)
    refuse(lane,
           fmt::format(
               "this arrival counts for {} at a barrier where {} of {} are still to come in this phase: more arrive "
               "than init() was told of",
               count, word.missing, word.expected),
           site);
  word.expected = static_cast<std::uint16_t>(word.expected - dropped);
  word.missing = static_cast<std::uint16_t>(word.missing - count);
  if (word.missing == 0) {
    ++word.phase;
    word.missing = word.expected;
  }
  return phase;
}

bool is_over(Word& word, std::uint32_t phase) {
  Lane& lane = calling_thread();
  const void* site = __builtin_return_address(0);
  Unobserved guard;
  lane.atomics_in_a_row = std::numeric_limits<decltype(lane.atomics_in_a_row)>::max() - 1;  // others run at once
  if (!has_begun_after(word, phase)) polled(lane, &word, site);
  const bool over = has_begun_after(word, phase);
  looks(lane, word, Access::atomic, site);
  if (over && observer::active()) observer::device_fence(lane, true);
  return over;
}

void wait(Word& word, std::uint32_t phase) {
  Lane& lane = calling_thread();
  const void* site = __builtin_return_address(0);
  Unobserved guard;
  do {  // at least once: a warp's lanes go on together, those that come last, too
    lane.atomics_in_a_row = std::numeric_limits<decltype(lane.atomics_in_a_row)>::max() - 1;  // others run at once
    polled(lane, &word, site);
  } while (!has_begun_after(word, phase));
  looks(lane, word, Access::atomic, site);
  if (observer::active()) observer::device_fence(lane, true);
}

void meet(TileWords& tiles, unsigned which, unsigned threads) {
  Lane& lane = calling_thread();
  const void* site = __builtin_return_address(0);
  Word& word = tiles.words[which];
  {
    Unobserved guard;
    constexpr std::uint64_t kOurs = 0x9E3779B97F4A7C15ull;  // what lies in shared memory is no such number by chance
    if (const std::uint64_t block = running_launch().block_serial ^ kOurs; tiles.block != block) tiles = {block, {}};
    if (word.expected == 0) {
      if (observer::active()) observer::device_fence(lane, true);
      lane.volatile_access = true;  // handed over to those that come later
      looks(lane, word, Access::store, site);
      lane.volatile_access = false;
      word = {0, static_cast<std::uint16_t>(threads), static_cast<std::uint16_t>(threads)};
    }
  }
  wait(word, arrive(word, 1, 0));
}

}  // namespace barrier
}  // namespace tilewise::sim
