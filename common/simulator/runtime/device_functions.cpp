// What device code calls: coordinates, barriers, warp operations, memory.
#include <fmt/format.h>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include "base/findings.hpp"
#include "base/inline_cache.hpp"
#include "base/memory.hpp"
#include "base/thread.hpp"
#include "cuda_runtime_api.h"
#include "model/known_places.hpp"
#include "model/observer.hpp"
#include "runtime/end_of_program.hpp"
#include "runtime/errors.hpp"
#include "runtime/host_algorithm.hpp"
#include "runtime/printing.hpp"
#include "runtime/scheduler.hpp"
#include "runtime/tensor.hpp"
#include "runtime/watchdog.hpp"

namespace tilewise::sim {

namespace {

constexpr unsigned kAtomicsBeforeYield = 4096;
constexpr std::uint64_t kPollsOfNap = 64;  // what a __nanosleep() counts for

}  // namespace

#define COORDINATES(name, of)                     \
  unsigned name##_x() noexcept { return (of).x; } \
  unsigned name##_y() noexcept { return (of).y; } \
  unsigned name##_z() noexcept { return (of).z; }
COORDINATES(thread_idx, current_lane ? current_lane->index : uint3{})
COORDINATES(block_idx, the_launch.block)
COORDINATES(block_dim, the_launch.config.block)
COORDINATES(grid_dim, the_launch.config.grid)
#undef COORDINATES
unsigned lane_id() noexcept { return current_lane ? current_lane->linear % kWarpSize : 0; }
unsigned linear_tid() noexcept { return current_lane ? current_lane->linear : 0; }
bool on_device() { return current_lane != nullptr || host_algorithms > 0; }

// ------------------------------------------------------------------------------------------- barriers
namespace {

Scheduler& arrive_at_barrier(bool predicate, const void* site) {
  Unobserved guard;
  Scheduler& s = scheduler();
  if (!current_lane) {
    std::fputs("tilewise simulator: __syncthreads() was called by host code\n", stderr);
    std::exit(1);
  }
  ++s.waiting;
  s.predicate_count += predicate;
  current_lane->state = LaneState::at_barrier;
  current_lane->wait_site = site;
  current_lane->wait_barrier = current_lane->next_barrier;
  current_lane->next_barrier = 0;
  s.release_barrier_if_complete();
  const LaneState state = current_lane->state;  // ready already when this thread was the last to arrive
  wait_in(state, site);
  return s;
}

}  // namespace

void sync_block() { arrive_at_barrier(false, __builtin_return_address(0)); }
int sync_block_count(int p) { return arrive_at_barrier(p != 0, __builtin_return_address(0)).result_count; }
int sync_block_and(int p) { return arrive_at_barrier(p != 0, __builtin_return_address(0)).result_and; }
int sync_block_or(int p) { return arrive_at_barrier(p != 0, __builtin_return_address(0)).result_or; }

void number_barrier(unsigned number) {
  if (current_lane) current_lane->next_barrier = number;
}

// ------------------------------------------------------------------------------------------- warp operations
namespace {

// Waits until all lanes of `mask` have come to the same kind of operation. Returns those that have.
unsigned meet(unsigned mask, WarpOp op, std::uint64_t value, std::uint64_t* out, const void* site) {
  Scheduler& s = scheduler();
  Lane& lane = *current_lane;
  const unsigned l = lane.linear % kWarpSize, first = lane.linear - l;
  Warp& warp = s.warps[lane.linear / kWarpSize];
  warp.published[l] = value;
  lane.exchange_out = out;
  auto meeting = warp.meetings.begin();
  while (meeting != warp.meetings.end() &&
         !(meeting->mask == mask && meeting->op == op && !(meeting->arrived >> l & 1u)))
    ++meeting;
  if (meeting == warp.meetings.end()) meeting = warp.meetings.insert(meeting, Rendezvous{mask, op, 0});
  meeting->arrived |= 1u << l;
  if (op == WarpOp::sync) observer::fence(lane);
  lane.state = LaneState::at_warp_operation;
  lane.wait_op = op;
  lane.wait_site = site;
  lane.wait_mask = mask;
  s.complete_meetings(warp, first);
  wait_in(lane.state, site);
  return lane.wait_mask;
}

}  // namespace

unsigned warp_exchange(unsigned mask, WarpOp op, std::uint64_t value, std::uint64_t out[kWarpSize]) {
  Unobserved guard;
  Lane& lane = *current_lane;
  const unsigned l = lane.linear % kWarpSize;
  const void* site = __builtin_return_address(0);
  if (!(mask >> l & 1u)) {
    report_finding(
        finding_of("mask-without-caller",
                   fmt::format("lane {} calls a warp operation with mask 0x{:08x}, which does not name lane {} itself",
                               l, mask, l),
                   lane, site));
    mask |= 1u << l;
  }
  return meet(mask, op, value, out, site);
}

void tensor::meet(const Call& call, const void* site) {
  if (!current_lane) unsupported("a matrix operation (wmma, mma.sync) in host code");
  Unobserved guard;
  sim::meet(~0u, WarpOp::matrix, reinterpret_cast<std::uintptr_t>(&call), nullptr, site);
}

void absent_lane(unsigned mask, unsigned source) {
  if (!observer::checking) return;
  Unobserved guard;
  report_finding(finding_of(
      "shuffle-absent-lane",
      fmt::format(
          "this shuffle reads from lane {}, which takes no part in it{}: the value is undefined", source,
          mask >> source & 1u ? " (there is no such thread, or it has returned)" : " (the mask does not name it)"),
      *current_lane, __builtin_return_address(0)));
}

unsigned active_mask() {
  Unobserved guard;
  Scheduler& s = scheduler();
  Lane& lane = *current_lane;
  s.warps[lane.linear / kWarpSize].wants_active_mask |= 1u << (lane.linear % kWarpSize);
  wait_in(LaneState::at_active_mask, __builtin_return_address(0));
  return lane.active_mask_result;
}

static void let_others_run(Lane& lane, const void* site, std::uint64_t polls) {
  inline_cache::empty(inline_cache::Until::threads_poll);
  idle_polls += polls;
  scheduler().warps[lane.linear / kWarpSize].yielded |= 1u << (lane.linear % kWarpSize);
  wait_in(LaneState::yielded, site);
}

static int print_as(unsigned call, const void* site, const char* format, std::va_list arguments) {
  if (!current_lane) return std::vprintf(format, arguments);
  Unobserved guard;
  ++launch_effects;
  launch_prints();
  std::va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (length <= 0) return length;
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, arguments);
  text.pop_back();
  printing::in_step(std::move(text), call, site);
  return length;
}

int PrintList::operator()(const char* format, std::va_list arguments) const {
  return print_as(call, __builtin_return_address(0), format, arguments);
}

int Print::operator()(const char* format, ...) const {
  std::va_list arguments;
  va_start(arguments, format);
  const int written = print_as(call, __builtin_return_address(0), format, arguments);
  va_end(arguments);
  return written;
}

void yield_thread() {
  Unobserved guard;
  if (observer::active()) observer::note_dependence(__builtin_return_address(0), "waits with __nanosleep()");
  if (current_lane) let_others_run(*current_lane, __builtin_return_address(0), kPollsOfNap);
}

// ------------------------------------------------------------------------------------------- memory
void atomic_access(const volatile void* address, std::size_t bytes) {
  Lane* lane = current_lane;
  if (!lane) return;
  polled(*lane, address, __builtin_return_address(0));  // first: others may run before the atomic
  if (observed_lane && !checker::needs_no_look(reinterpret_cast<std::uintptr_t>(address),
                                               static_cast<std::uint32_t>(bytes), __builtin_return_address(0))) {
    Unobserved guard;
    observer::atomic(*lane, address, bytes, __builtin_return_address(0));
  }
  lane->discard_next = false;
}

void polled(Lane& lane, const volatile void* address, const void* site) {
  lane.polls = reinterpret_cast<std::uintptr_t>(address);
  if (++lane.atomics_in_a_row < kAtomicsBeforeYield) return;
  Unobserved guard;
  let_others_run(lane, site, kAtomicsBeforeYield);
}

void discard() {
  if (current_lane) current_lane->discard_next = true;
}

void memory_fence(bool within_block) {
  if (!observed_lane) return;
  const Lane& lane = *observed_lane;
  observer::fence(lane);
  Unobserved guard;
  observer::device_fence(lane, within_block);
  if (!within_block) observer::note_dependence(__builtin_return_address(0), "calls __threadfence()");
}

void raw_copy(void* to, const void* from, std::size_t bytes) {
  if (!current_lane) {
    memory::host_uses(to, bytes);
    memory::host_uses(from, bytes);
  }
  Unobserved guard;  // memcpy itself is watched
  // An atomic that changes something is work, and no wait for others.
  if (current_lane && current_lane->polls == reinterpret_cast<std::uintptr_t>(to) && std::memcmp(to, from, bytes) != 0)
    idle_polls = 0;
  std::memcpy(to, from, bytes);
}

void* shared_address(SharedVariable& variable, const char* name, const char* file, int line) {
  Scheduler& s = scheduler();
  if (!current_lane) {
    std::fputs("tilewise simulator: host code reached a __shared__ variable\n", stderr);
    std::exit(1);
  }
  if (variable.block == the_launch.block_serial) return variable.address;
  Unobserved guard;
  if (the_launch.config.cooperative) s.met.push_back(&variable);
  // Offsets as a compiler would give them, with a gap between variables so that an overrun is seen.
  variable.name = name;
  variable.file = file;
  variable.line = line;
  variable.address = observer::place_shared(variable, s.shared_used);
  variable.block = the_launch.block_serial;
  if (s.shared_used > the_launch.static_shared) {
    the_launch.static_shared = s.shared_used;
    const cudaError_t error = check_kernel_limits(the_launch.kernel, the_launch.config, s.max_threads, s.shared_used);
    if (error != cudaSuccess) abort_launch(error, false);
  }
  std::memset(variable.address, 0xFF, variable.bytes);
  return variable.address;
}

void* dynamic_shared() { return shared_begin + kSharedRegion; }

}  // namespace tilewise::sim
