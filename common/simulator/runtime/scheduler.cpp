// Runs the threads of a block: one fiber per thread that waits, lanes in index order.
#include "runtime/scheduler.hpp"
#include <sys/mman.h>
#include <algorithm>
#include <bit>
#include <boost/context/detail/fcontext.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include "base/devices.hpp"
#include "base/findings.hpp"
#include "base/inline_cache.hpp"
#include "base/thread.hpp"
#include "cuda_runtime_api.h"
#include "model/observer.hpp"
#include "runtime/printing.hpp"
#include "runtime/tensor.hpp"
#include "runtime/watchdog.hpp"

namespace tilewise::sim {

namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

constexpr std::size_t kGuardBytes = std::size_t{64} << 10;
constexpr std::size_t kStackStep = kStackBytes + kGuardBytes;
constexpr std::size_t kGuardedStacks = 16 * kMaxThreadsPerBlock;
constexpr std::size_t kStackColours = 61;
constexpr std::size_t kColourBytes = 320;

}  // namespace

// Leaves the thread for good: what is on its stack stays there.
void leave_launch(int error, bool sticky) {
  Scheduler& s = scheduler();
  s.aborted = true;
  s.abort_error = static_cast<cudaError_t>(error);
  s.abort_sticky = sticky;
  jump_fcontext(s.home, nullptr);
}

void wait_in(LaneState state, const void* site) {
  Scheduler& s = scheduler();
  Lane& lane = *current_lane;
  lane.state = state;
  lane.wait_site = site;
  threads_waited = true;
  lane.worker = s.running;
  lane.atomics_in_a_row = 0;
  transfer_t t = jump_fcontext(s.home, nullptr);
  s.home = t.fctx;
}

// One lane after the other, until this worker has none. A function of its own: for its next lane another thread of the host may resume the
// worker, with variables of its own, and on AArch64 a compiler looks up but once in a function where those of its thread are.
[[gnu::noinline]] static void run_lanes(Scheduler& s) {
  for (;;) {
    s.thread(s.context);
    observed_lane = nullptr;
    s.finish_lane(*current_lane);
    // The next lane of the warp has not started yet and needs no stack of its own: go on with it here.
    Lane& lane = *current_lane;
    Warp& warp = s.warps[lane.linear / kWarpSize];
    const unsigned runnable = warp.fresh | warp.ready;
    const unsigned next = static_cast<unsigned>(std::countr_zero(runnable));
    if (runnable == 0 || s.restart || (warp.fresh >> next & 1u) == 0) return;
    const unsigned first = lane.linear / kWarpSize * kWarpSize;
    Lane& fresh = s.lanes[first + next];
    __builtin_prefetch(&fresh + 2);
    __builtin_prefetch(reinterpret_cast<const char*>(&fresh + 2) + 64);
    warp.fresh &= ~(1u << next);
    fresh.state = LaneState::ready;
    fresh.calls = &s.running->calls;
    current_lane = &fresh;
    observed_lane = nullptr;
  }
}

// Runs on a worker's stack.
static void work(transfer_t from) {
  Scheduler& s = scheduler();
  s.home = from.fctx;
  for (;;) {
    run_lanes(s);
    s.idle.push_back(s.running);
    transfer_t t = jump_fcontext(s.home, nullptr);
    s.home = t.fctx;
  }
}

// Threads that a device can have at a time.
static std::size_t most_threads() {
  const Device& card = device();
  return static_cast<std::size_t>(card.multiprocessors) * static_cast<std::size_t>(card.max_threads_per_multiprocessor);
}

static char* reserve_stacks(std::size_t count) {
  void* region =
      mmap(nullptr, kStackStep * count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) {
    std::fputs("tilewise simulator: cannot reserve memory for the threads' stacks\n", stderr);
    std::exit(1);
  }
#if defined(MADV_NOHUGEPAGE)
  if (count > kMaxThreadsPerBlock) madvise(region, kStackStep * count, MADV_NOHUGEPAGE);  // one page of each is in use
#endif
  return static_cast<char*>(region);
}

Worker* Scheduler::take_worker() {
  if (!idle.empty()) {
    Worker* w = idle.back();
    idle.pop_back();
    return w;
  }
  const std::size_t n = workers.size();
  Stacks& stacks = thread_stacks[n < kMaxThreadsPerBlock ? 0 : 1];
  if (n == 0) stacks.begin = stacks.end = reserve_stacks(kMaxThreadsPerBlock);
  if (n == kMaxThreadsPerBlock) stacks.begin = stacks.end = reserve_stacks(most_threads() - kMaxThreadsPerBlock);
  auto worker = std::make_unique<Worker>();
  char* low = const_cast<char*>(stacks.end);
  stacks.end += kStackStep;
  // A stack that grows too far faults instead of spoiling its neighbour. A process can have 65,530 pieces of memory, and
  // each guard makes two: where there are more threads, the first ones have to meet what all of them do wrong.
  if (n < kGuardedStacks) mprotect(low, kGuardBytes, PROT_NONE);
  // Stacks that all start at the same offset of a page would fight for the same cache sets.
  worker->stack = low + kGuardBytes + kStackBytes - workers.size() % kStackColours * kColourBytes;
  workers.push_back(std::move(worker));
  return workers.back().get();
}

// After an aborted launch suspended threads never resume; their stacks are started afresh.
void Scheduler::abandon_workers() {
  idle.clear();
  for (auto& w : workers) {
    w->started = false;
    idle.push_back(w.get());
  }
}

[[gnu::always_inline]] inline void Scheduler::resume(unsigned l) {
  Lane& lane = lanes[l];
  Warp& warp = warps[l / kWarpSize];
  const unsigned bit = 1u << (l % kWarpSize);
  const bool fresh = (warp.fresh & bit) != 0;
  warp.fresh &= ~bit;
  warp.ready &= ~bit;
  current_lane = &lane;
  lane.state = LaneState::ready;
  Worker* worker = fresh ? take_worker() : static_cast<Worker*>(lane.worker);
  lane.calls = &worker->calls;
  observed_lane = !fresh && lane.in_kernel && observer::active() ? &lane : nullptr;
  if (!worker->started) {
    worker->context = make_fcontext(worker->stack, kStackBytes - kStackColours * kColourBytes, work);
    worker->started = true;
  }
  running = worker;
  if (const auto end = reinterpret_cast<std::uintptr_t>(worker->stack); own_stack_end != end) {
    own_stack_end = end;
    inline_cache::empty(inline_cache::Until::stack_changes);
  }
  if (l + 1 < thread_count) {  // most likely the next to run: its stack is cold
    const char* top = static_cast<const char*>(lanes[l + 1].fiber);
    __builtin_prefetch(top);
    __builtin_prefetch(top + 64);
    __builtin_prefetch(top + 128);
    __builtin_prefetch(top + 192);
    __builtin_prefetch(&lanes[std::min(l + 2, kMaxThreadsPerBlock - 1)]);
  }
  transfer_t t = jump_fcontext(worker->context, nullptr);
  running->context = t.fctx;  // `running` is the worker that came back, the same one
  current_lane->fiber = t.fctx;
  current_lane = nullptr;
  observed_lane = nullptr;
}

[[gnu::always_inline]] inline void Scheduler::finish_lane(Lane& lane) {
  ++threads_ended;
  lane.state = LaneState::done;
  lane.in_kernel = false;
  observed_lane = nullptr;
  Warp& warp = warps[lane.linear / kWarpSize];
  warp.alive &= ~(1u << (lane.linear % kWarpSize));
  --live;
  idle_polls = 0;
  if (waiting != 0) release_barrier_if_complete();
  if (!warp.meetings.empty()) complete_meetings(warp, lane.linear / kWarpSize * kWarpSize);
}

void Scheduler::release_barrier_if_complete() {
  if (waiting == 0 || waiting != live) return;
  result_count = static_cast<int>(predicate_count);
  result_and = predicate_count == waiting;
  result_or = predicate_count != 0;
  const Lane* first = nullptr;
  const Lane* other = nullptr;
  for (unsigned l = 0; l < thread_count; ++l) {
    Lane& lane = lanes[l];
    if (lane.state != LaneState::at_barrier) continue;
    if (!first) first = &lane;
    if (!other && (lane.wait_site != first->wait_site || lane.wait_barrier != first->wait_barrier ||
                   !in_same_iteration(lane, *first) || lane.call_context != first->call_context))
      other = &lane;
    lane.state = LaneState::ready;
    warps[l / kWarpSize].ready |= 1u << (l % kWarpSize);
  }
  if (other && observer::checking) report_divergent_barrier(*first, *other, "__syncthreads()", "a block");
  idle_polls = 0;
  waiting = 0;
  predicate_count = 0;
  ++the_launch.epoch;
  if (observer::active()) observer::block_barrier();
  restart = true;
}

// A matrix operation that all lanes have come to.
void Scheduler::carry_out(const Warp& warp, unsigned arrived, unsigned first_lane) {
  const tensor::Call* calls[kWarpSize];
  for (unsigned k = 0; k < kWarpSize; ++k) calls[k] = reinterpret_cast<const tensor::Call*>(warp.published[k]);
  tensor::carry_out(lanes + first_lane, arrived, calls);
}

// Every lane that `op` waits for is there (or has returned): hand out what was published.
void Scheduler::complete_meetings(Warp& warp, unsigned first_lane) {
  for (std::size_t i = 0; i < warp.meetings.size();) {
    const Rendezvous m = warp.meetings[i];
    const unsigned expected = m.mask & warp.alive;
    if ((m.arrived & expected) != expected) {
      ++i;
      continue;
    }
    printing::what_is_left();
    if (observer::active()) observer::warp_meeting(first_lane / kWarpSize, m.arrived);
    if (m.op == WarpOp::matrix) carry_out(warp, m.arrived, first_lane);
    std::uint64_t values[kWarpSize];
    for (unsigned k = 0; k < kWarpSize; ++k) values[k] = (m.arrived >> k & 1u) ? warp.published[k] : 0;
    for (unsigned rest = m.arrived; rest != 0; rest &= rest - 1) {
      const auto k = static_cast<unsigned>(std::countr_zero(rest));
      Lane& lane = lanes[first_lane + k];
      if (lane.exchange_out) std::memcpy(lane.exchange_out, values, sizeof values);
      lane.wait_mask = m.arrived;
      lane.state = LaneState::ready;
      warp.ready |= 1u << k;
    }
    warp.meetings.erase(warp.meetings.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Nobody in the warp can go on: the lanes that wait at one active_mask() call are the converged ones there.
void Scheduler::resolve_active_masks(Warp& warp, unsigned first_lane) {
  const auto first = static_cast<unsigned>(std::countr_zero(warp.wants_active_mask));
  const Lane& leader = lanes[first_lane + first];
  unsigned together = 0;
  for (unsigned rest = warp.wants_active_mask; rest != 0; rest &= rest - 1) {
    const auto k = static_cast<unsigned>(std::countr_zero(rest));
    const Lane& lane = lanes[first_lane + k];
    if (lane.wait_site == leader.wait_site && lane.call_context == leader.call_context &&
        in_same_iteration(lane, leader))
      together |= 1u << k;
  }
  for (unsigned rest = together; rest != 0; rest &= rest - 1) {
    Lane& lane = lanes[first_lane + static_cast<unsigned>(std::countr_zero(rest))];
    lane.active_mask_result = together;
    lane.state = LaneState::ready;
  }
  warp.wants_active_mask &= ~together;
  warp.ready |= together;
}

// Runs the warp until none of its lanes can go on. Returns whether anything ran.
[[gnu::always_inline]] inline bool Scheduler::run_warp(unsigned w) {
  Warp& warp = warps[w];
  bool ran = false;
  for (;;) {
    const unsigned runnable = warp.fresh | warp.ready;
    if (runnable != 0) {
      ran = true;
      resume(w * kWarpSize + static_cast<unsigned>(std::countr_zero(runnable)));
      if (aborted || restart) break;
    } else if (warp.wants_active_mask != 0) {
      resolve_active_masks(warp, w * kWarpSize);
    } else {
      break;
    }
  }
  printing::what_is_left();
  if (ran && observer::active()) observer::end_of_interval(lanes + w * kWarpSize);
  return ran;
}

void Scheduler::run_block() {
  the_launch.epoch = 0;
  shared_used = 0;
  ++the_launch.block_serial;
  live = thread_count;
  waiting = 0;
  at_grid_barrier = 0;
  predicate_count = 0;
  restart = false;
  for (unsigned l = 0; l < thread_count; ++l) {
    Lane& lane = lanes[l];
    lane.state = LaneState::fresh;
    lane.in_kernel = false;
    lane.wait_site = nullptr;
    lane.polls = 0;
    lane.next_barrier = 0;
    lane.discard_next = false;
    lane.loop_context = 0;
    lane.loop = nullptr;
    lane.call_context = 0;
    lane.call_depth = 0;
    lane.last_slot = 0;
    lane.atomics_in_a_row = 0;
  }
  for (unsigned w = 0; w < warp_count; ++w) {
    const unsigned lanes_here = std::min(kWarpSize, thread_count - w * kWarpSize);
    warps[w].fresh = lanes_here == 32 ? ~0u : (1u << lanes_here) - 1;
    warps[w].alive = warps[w].fresh;
    warps[w].ready = warps[w].yielded = warps[w].wants_active_mask = 0;
    warps[w].meetings.clear();
  }
  if (the_launch.config.shared != 0) std::memset(shared_begin + kSharedRegion, 0xFF, the_launch.config.shared);
  if (observer::active()) observer::begin_block();
  run_threads();
}

// Until all have ended. In a cooperative launch, or until none of them can go on before another block does.
void Scheduler::run_threads() {
  suspension = Suspension::none;
  while (live != 0 && !aborted) {
    restart = false;
    bool progress = false;
    for (unsigned w = 0; w < warp_count && !restart && !aborted; ++w) progress |= run_warp(w);
    if (progress || restart || aborted) continue;
    if (at_grid_barrier != 0 && at_grid_barrier == live) {
      suspension = Suspension::at_grid_barrier;
      return;
    }
    bool woke = false;
    for (unsigned w = 0; w < warp_count; ++w) {
      warps[w].ready |= warps[w].yielded;
      woke |= warps[w].yielded != 0;
      warps[w].yielded = 0;
    }
    if (!woke || idle_polls > most_polls) {
      report_deadlock();
    } else if (the_launch.config.cooperative && idle_polls != 0) {
      suspension = Suspension::polls;
      return;
    }
  }
  if (observer::active() && !aborted) observer::end_block();
}

// The running block can't go on, and so the launch fails.
void Scheduler::fail(Finding finding) {
  report_finding(std::move(finding));
  aborted = true;
  abort_error = cudaErrorLaunchFailure;
  abort_sticky = true;
}

}  // namespace tilewise::sim
