// Runs the threads of a launch: one fiber per thread that waits, blocks and lanes in index order.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <boost/context/detail/fcontext.hpp>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/device_lock.hpp"
#include "base/devices.hpp"
#include "base/findings.hpp"
#include "base/for_ever.hpp"
#include "base/inline_cache.hpp"
#include "base/memory.hpp"
#include "base/symbols.hpp"
#include "base/thread.hpp"
#include "cuda_runtime_api.h"
#include "model/known_places.hpp"
#include "model/observer.hpp"
#include "model/order.hpp"
#include "model/timeline.hpp"
#include "runtime/api.hpp"
#include "runtime/device_launches.hpp"
#include "runtime/errors.hpp"
#include "runtime/graph.hpp"
#include "runtime/host_algorithm.hpp"
#include "runtime/host_code.hpp"
#include "runtime/printing.hpp"
#include "runtime/repeats.hpp"
#include "runtime/scheduler.hpp"
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
constexpr unsigned kAtomicsBeforeYield = 4096;
constexpr std::uint64_t kAccessesOfCorner = 100'000;
constexpr std::uint64_t kPollsOfNap = 64;  // what a __nanosleep() counts for

}  // namespace

// Leaves the thread for good: what is on its stack stays there.
static void leave_launch(int error, bool sticky) {
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

// The calls that led to the barrier, innermost first: lines of source, of inlined functions too.
static std::vector<std::string> path_to_barrier(const Lane& lane) {
  std::vector<std::string> path = call_path(lane.wait_site);
  for (unsigned i = std::min(lane.call_depth, kCallDepth); i-- > 0;)
    for (std::string& line : call_path(lane.calls->callers[i])) path.push_back(std::move(line));
  return path;
}

// The threads met, but not in the same place of the program. The compiler may have made two calls out of one, so places
// are compared as lines of source, and as numbers where a line has several barriers.
void Scheduler::report_divergent_barrier(const Lane& one, const Lane& other, const char* barrier, const char* all) {
  const std::string here = describe_site(one.wait_site), there = describe_site(other.wait_site);
  std::string message;
  if (here != there) {
    message = fmt::format(
        "this thread waits at the {} of this line, but thread {} waits at the one of {}; all threads of {} must reach "
        "the same one",
        barrier, thread_triple(other), there, all);
  } else if (one.wait_barrier != other.wait_barrier) {
    message = fmt::format(
        "this thread waits at one {} of this line, and thread {} at another one of the same line; all threads of {} "
        "must reach the same one",
        barrier, thread_triple(other), all);
  } else if (!in_same_iteration(one, other)) {
    message = fmt::format(
        "this thread and thread {} wait at this {} in different iterations of a loop; all threads of {} must reach it "
        "in the same one",
        thread_triple(other), barrier, all);
  } else {
    const std::vector<std::string> path = path_to_barrier(one), path_there = path_to_barrier(other);
    const auto [mine, its] = std::mismatch(path.begin(), path.end(), path_there.begin(), path_there.end());
    if (mine == path.end() || its == path_there.end()) return;
    message = fmt::format(
        "this thread has come to this {} by the call in {}, but thread {} by the one in {}; a branch that holds a "
        "barrier must be taken by all threads of {} or by none",
        barrier, *mine, thread_triple(other), *its, all);
  }
  Finding f = finding_of("divergent-barrier", std::move(message), one, one.wait_site);
  f.other_site = other.wait_site;
  report_finding(std::move(f));
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

namespace {

// Words for what a thread waits in.
std::string waits_in(const Lane& lane) {
  switch (lane.state) {
    case LaneState::at_barrier:
      return "at the __syncthreads() of " + describe_site(lane.wait_site);
    case LaneState::at_grid_barrier:
      return "at the grid's barrier of " + describe_site(lane.wait_site);
    case LaneState::at_warp_operation:
      if (lane.wait_op == WarpOp::matrix) return "at the matrix operation of " + describe_site(lane.wait_site);
      return fmt::format("at the warp operation of {} (mask 0x{:08x})", describe_site(lane.wait_site), lane.wait_mask);
    default:
      return "in a loop at " + describe_site(lane.wait_site);
  }
}

// Blocks of a sample wait for others, which are run later, if at all.
[[noreturn]] void refuse_sample() {
  std::fprintf(
      stderr,
      "tilewise: %s cannot be run in part, as TILEWISE_SAMPLE or --sample asks: a block waits for another that has "
      "not run yet (%s); run it whole\n",
      function_name(running_launch().kernel).c_str(), observer::dependence().c_str());
  std::exit(2);
}

// A kernel runs to its end where it is launched: nothing that the host does comes before that.
[[noreturn]] void refuse_to_wait_for_the_host(const Lane& lane) {
  std::fprintf(
      stderr,
      "tilewise: the simulator does not support a kernel that waits for the host, as %s may at %s: the memory is "
      "pinned or managed, and a kernel runs to its end before the host goes on. (If another thread of the kernel is to "
      "write it, that one never does.)\n",
      function_name(running_launch().kernel).c_str(), describe_site(lane.wait_site).c_str());
  std::exit(1);
}

}  // namespace

// No thread can go on, or those that can only spin. One part of the message for each place where threads wait.
void Scheduler::report_deadlock() {
  const Lane* first = nullptr;
  const Lane* in_warp_operation = nullptr;
  const Lane* spins = nullptr;
  std::vector<std::pair<std::string, unsigned>> places;
  for (unsigned l = 0; l < thread_count; ++l) {
    const Lane& lane = lanes[l];
    if (lane.state == LaneState::done) continue;
    if (!first) first = &lane;
    if (!in_warp_operation && lane.state == LaneState::at_warp_operation) in_warp_operation = &lane;
    const bool meets = lane.state == LaneState::at_barrier || lane.state == LaneState::at_warp_operation ||
                       lane.state == LaneState::at_grid_barrier;
    if (!spins && !meets) spins = &lane;
    std::string place = waits_in(lane);
    auto known = std::find_if(places.begin(), places.end(), [&](const auto& p) { return p.first == place; });
    if (known == places.end())
      places.emplace_back(std::move(place), 1);
    else
      ++known->second;
  }
  if (spins && done.size() > 1) refuse_sample();
  if (spins && memory::open_arena.contains(spins->polls)) refuse_to_wait_for_the_host(*spins);
  const char* code = "deadlock";
  std::string text;
  if (spins) {
    text = "the block never ends, since threads wait for something that does not happen";
    if (the_launch.config.grid.x * the_launch.config.grid.y * the_launch.config.grid.z > 1 &&
        !the_launch.config.cooperative)
      text += " (not by waiting for a block with a higher index, which need not run before this one has ended)";
  } else if (in_warp_operation) {
    first = in_warp_operation;
    const bool matrix = first->wait_op == WarpOp::matrix;
    code = matrix ? "divergent-matrix" : "mask-lane-missing";
    text = matrix ? "a matrix operation needs all 32 lanes of the warp, and some never come"
                  : "this warp operation waits for lanes that its mask names and that never come";
  } else if (at_grid_barrier != 0) {
    code = "divergent-barrier";
    text = "all threads of the grid must come to its barrier, and of this block only a part does";
  } else {
    text = "the block can never go on";
  }
  for (std::size_t i = 0; i < places.size() && i < 4; ++i) {
    const auto& [place, count] = places[i];
    text += fmt::format("{} {} thread{} {} {}", i == 0 ? ":" : ",", count, count == 1 ? "" : "s",
                        count == 1 ? "waits" : "wait", place);
  }
  fail(finding_of(code, std::move(text), *first, first->wait_site));
}

// The running block can't go on, and so the launch fails.
void Scheduler::fail(Finding finding) {
  report_finding(std::move(finding));
  aborted = true;
  abort_error = cudaErrorLaunchFailure;
  abort_sticky = true;
}

namespace {

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
    if (suspension != Suspension::none) abandon_workers();  // what comes behind a grid's barrier is not looked at
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

static void reserve_shared_memory() {
  if (shared_begin) return;
  // A fixed address keeps reports identical from run to run; any other works as well.
  void* wanted = reinterpret_cast<void*>(std::uintptr_t{0x0f0000000000});
  void* region =
      mmap(wanted, 2 * kSharedRegion, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) {
    std::fputs("tilewise simulator: cannot reserve the shared memory region\n", stderr);
    std::exit(1);
  }
  shared_begin = static_cast<char*>(region);
}

// ------------------------------------------------------------------------------------------- the launch
namespace {

/// Of a launch in a stream of another device than the current one.
std::string cure_of_refusal(const LaunchConfig& config) {
  const int current = current_device();
  const int other = is_stream(config.stream) ? order::device_of(order_of(config.stream)) : current;
  if (other == current) return "";
  return fmt::format("; its stream belongs to device {}, and device {} is the current one: cudaSetDevice({}) before it",
                     other, current, other);
}

// `child`: a kernel has asked for it.
// `arguments` as repeats::Attempt wants them.
void launch_once(const LaunchConfig& config, void (*thread)(void*), void* context, std::string_view arguments,
                 const void* site, const DeviceLaunch* child = nullptr) {
  ++the_launch.serial;
  the_launch.blocks_before = the_launch.block_serial;
  if (const cudaError_t error = check_launch_config(config); error != cudaSuccess) {
    set_error(error);
    launch_failed(error, site, cure_of_refusal(config));
    observer::refused_launch(config, cudaGetErrorName(error), site);
    return;
  }
  if (!graph::launching() && !child) {
    check_demanded_stream("this launch", "it is the fourth argument of <<< >>>", config.stream,
                          const_cast<void*>(site));
    ++host_work_so_far().launches;
  }
  reserve_shared_memory();
  set_abort_launch(leave_launch);
  Scheduler& s = scheduler();
  the_launch.config = config;
  the_launch.site = site;
  the_launch.parent = child ? child->parent : nullptr;
  set_launch_depth(child ? child->depth : 0);
  the_launch.kernel = nullptr;
  the_launch.carveout = cudaSharedmemCarveoutDefault;
  the_launch.static_shared = 0;
  s.thread = thread;
  s.context = context;
  s.aborted = false;
  s.abort_error = cudaSuccess;
  s.abort_sticky = false;
  idle_polls = 0;
  static auto& waiting = *for_ever<std::set<const void*>>();  // places of launches whose threads have waited
  threads_waited = waiting.count(site) != 0;

  const std::uint64_t reports = reports_made();
  watch_blocks();
  memory::open_device_memory();
  the_launch.stream = order_of(config.stream);
  order::ask_for(the_launch.stream);
  const dim3 &grid = config.grid, &block = config.block;
  timeline::is_launch(std::size_t{grid.x} * grid.y * grid.z * block.x * block.y * block.z);
  the_launch.device = current_device();
  memory::show_variables_of(the_launch.device);
  inline_cache::empty(
      inline_cache::Until::host_is_watched);  // a kernel may come to the same place, where host memory matters
  observer::begin_launch(the_launch);
  follow_loops = observer::active();
  repeats::Attempt attempt(config, thread, arguments);
  const bool repeated = attempt.changes_nothing();
  if (repeated) {
    attempt.skip(the_launch);
  } else {
    attempt.begin();
    s.run_grid();
    attempt.end(the_launch, s.aborted);
  }
  if (threads_waited) waiting.insert(site);
  observer::end_launch(the_launch);
  inline_cache::empty(inline_cache::Until::launch_ends);
  memory::keep_variables_of(the_launch.device);
  memory::close_device_memory();
  if (the_launch.kernel && !repeated) note_kernel(the_launch.kernel, s.max_threads, the_launch.static_shared);

  if (s.aborted) {
    s.abandon_workers();
    if (s.abort_error == cudaSuccess) return;
    if (s.abort_sticky)
      set_sticky(s.abort_error);
    else
      set_error(s.abort_error);
    if (reports_made() == reports) launch_failed(s.abort_error, site);
  }
}

// The launch, and all that its kernel and those of its children launch: it ends when all of them have.
void start_launch(const LaunchConfig& config, void (*thread)(void*), void* context, std::string_view arguments,
                  const void* site) {
  host_code::passed(arguments);
  launch_once(config, thread, context, arguments, site);
  std::vector<DeviceLaunch> open = take_device_launches();
  while (!open.empty() && sticky_error() == cudaSuccess) {
    const DeviceLaunch next = std::move(open.back());
    open.pop_back();
    launch_once(next.config, next.thread, next.context.get(), {}, next.site, &next);
    for (DeviceLaunch& more : take_device_launches()) open.push_back(std::move(more));
  }
}

}  // namespace

void launch_erased(const LaunchConfig& config, void (*thread)(void*), void* context, std::size_t bytes) {
  void* const site = __builtin_return_address(0);
  if (current_lane) return launch_in_kernel(config, thread, context, bytes, site);
  const DeviceLock lock(device_mutex());
  if (sticky_error() != cudaSuccess) {
    set_error(sticky_error());
    return;
  }
  if (graph::capturing()) {
    cudaError_t error = graph::is_captured(config.stream) ? check_launch_config(config) : cudaSuccess;
    if (error != cudaSuccess || graph::takes_launch(config, thread, context, bytes, site, error)) {
      if (error == cudaSuccess) return;
      set_error(error);
      launch_failed(error, site, cure_of_refusal(config));
      return;
    }
  }
  start_launch(config, thread, context, {static_cast<const char*>(context), bytes}, site);
}

cudaError_t run_launch(const LaunchConfig& config, void (*thread)(void*), void* context, std::string_view arguments,
                       const void* site) {
  // The launch records its error as <<<>>> does; here the call returns it as well.
  const cudaError_t before = cudaGetLastError();
  start_launch(config, thread, context, arguments, site);
  const cudaError_t error = cudaPeekAtLastError();
  if (error == cudaSuccess) set_error(before);
  return error;
}

// The launch's first thread tells which kernel it is. `from` is in it.
[[gnu::noinline, gnu::cold]] static void note_kernel_of_launch(unsigned max_threads, void* from) {
  if (!current_lane) {
    std::fprintf(stderr,
                 "tilewise simulator: %s: a __global__ function was called like an ordinary function; "
                 "launch it with kernel<<<grid, block>>>(...)\n",
                 describe_site(from).c_str());
    std::exit(1);
  }
  Scheduler& s = scheduler();
  the_launch.kernel = function_start(from);
  the_launch.carveout = preferred_carveout(the_launch.kernel);
  Unobserved guard;
  s.max_threads = max_threads;
  if (const cudaError_t error = check_kernel_limits(the_launch.kernel, the_launch.config, max_threads, 0);
      error != cudaSuccess)
    abort_launch(error, false);
  if (launches_only && !corners_only)
    abort_launch(cudaSuccess, false);  // all that there is to know about the launch is known now
}

void enter_kernel(unsigned max_threads) {
  Lane* lane = current_lane;
  if (!lane || !the_launch.kernel) [[unlikely]]
    note_kernel_of_launch(max_threads, __builtin_return_address(0));
  lane->in_kernel = true;
  if (observer::active()) observed_lane = lane;
}

void restricted(const volatile void* pointer) {
  if (observed_lane && observed_lane->linear == 0) observer::restricted(const_cast<const void*>(pointer));
}

// ------------------------------------------------------------------------------------------- coordinates
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

// ------------------------------------------------------------------------------------------- early ends
void trap() {
  if (!current_lane) std::abort();
  abort_launch(cudaErrorLaunchFailure, true);
}

namespace {

// Of host code, or of the running thread.
void report_here(const char* code, std::string message, const void* site) {
  if (current_lane)
    report_finding(finding_of(code, std::move(message), *current_lane, site));
  else
    report_finding(code, message, const_cast<void*>(site));
}

// Where findings aren't shown, there may be nobody who reads what is printed.
void report_failed_assert(const char* expression, const char* function, const void* site) {
  Unobserved guard;
  const std::string who = current_lane ? std::string(", ") + describe_thread(*current_lane) : "";
  report_here("assert", fmt::format("assert({}) fails in {}{}", expression, function, who), site);
}

[[noreturn]] void end_with_failed_assert(const char* expression, const char* function, const void* site) {
  report_failed_assert(expression, function, site);
  std::exit(1);
}

}  // namespace

void assert_failed(const char* expression, const char* file, unsigned line, const char* function, const void* site) {
  if (!current_lane) {
    if (shows_no_findings()) end_with_failed_assert(expression, function, site);
    std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
    std::abort();
  }
  const uint3 b = the_launch.block, t = current_lane->index;
  if (shows_no_findings()) {
    report_failed_assert(expression, function, site);
    abort_launch(cudaErrorAssert, true);
  }
  std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line,
               function, b.x, b.y, b.z, t.x, t.y, t.z, expression);
  abort_launch(cudaErrorAssert, true);
}

void promise_broken(const char* what) {
  void* const site = __builtin_return_address(0);
  {
    Unobserved guard;
    report_here("false-promise", fmt::format("{}: nvcc believes it, and what the program does then is undefined", what),
                site);
  }
  if (!current_lane) std::exit(1);
  abort_launch(cudaErrorAssert, true);
}

}  // namespace tilewise::sim

// assert() of <cassert> ends up here, in device and host code alike.
#if defined(__APPLE__)
extern "C" [[noreturn]] void __assert_rtn(const char* function, const char* file, int line, const char* expression) {
  tilewise::sim::assert_failed(expression, file, static_cast<unsigned>(line), function, __builtin_return_address(0));
}
#else
extern "C" [[noreturn]] void __assert_fail(const char* expression, const char* file, unsigned line,
                                           const char* function) noexcept {
  tilewise::sim::assert_failed(expression, file, line, function, __builtin_return_address(0));
}
#endif
