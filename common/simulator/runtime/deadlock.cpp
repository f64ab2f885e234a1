// Threads of a block that wait at different places, and what each waits for.
#include <fmt/format.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include "base/findings.hpp"
#include "base/memory.hpp"
#include "base/symbols.hpp"
#include "base/thread.hpp"
#include "model/observer.hpp"
#include "runtime/scheduler.hpp"

namespace tilewise::sim {

namespace {

// The calls that led to the barrier, innermost first: lines of source, of inlined functions too.
std::vector<std::string> path_to_barrier(const Lane& lane) {
  std::vector<std::string> path = call_path(lane.wait_site);
  for (unsigned i = std::min(lane.call_depth, kCallDepth); i-- > 0;)
    for (std::string& line : call_path(lane.calls->callers[i])) path.push_back(std::move(line));
  return path;
}

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

}  // namespace tilewise::sim
