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

using Threads = std::vector<const Lane*>;

/// "thread (3,0,0)", "threads (0,0,0) to (15,0,0)", "16 threads ((1,0,0), (3,0,0) and so on)".
std::string threads_text(const Threads& those) {
  const Lane &first = *those.front(), &last = *those.back();
  if (those.size() == 1) return "thread " + thread_triple(first);
  if (last.linear - first.linear + 1 == those.size())
    return fmt::format("threads {} to {}", thread_triple(first), thread_triple(last));
  return fmt::format("{} threads ({}, {}{})", those.size(), thread_triple(first), thread_triple(*those[1]),
                     those.size() > 2 ? " and so on" : "");
}

const char* either(const Threads& those, const char* one, const char* many) { return those.size() == 1 ? one : many; }

/// Those of the block that have not ended, and for which `belongs(lane)` is true.
template <class Belongs>
Threads threads_where(const Scheduler& s, Belongs belongs) {
  Threads those;
  for (unsigned l = 0; l < s.thread_count; ++l)
    if (s.lanes[l].state != LaneState::done && belongs(s.lanes[l])) those.push_back(&s.lanes[l]);
  return those;
}

/// ", thread (7,0,0) has ended"; nothing where none has.
std::string ended_text(const Scheduler& s) {
  Threads ended;
  for (unsigned l = 0; l < s.thread_count; ++l)
    if (s.lanes[l].state == LaneState::done) ended.push_back(&s.lanes[l]);
  return ended.empty() ? "" : fmt::format(", {} {} ended", threads_text(ended), either(ended, "has", "have"));
}

bool wait_in_one_line(const Lane& a, const Lane& b) {
  return a.wait_site == b.wait_site || describe_site(a.wait_site) == describe_site(b.wait_site);
}

/// "threads (16,0,0) to (31,0,0) at the one of x.cu:12", for each line but that of `one`; of many the first three.
std::string other_lines_text(const Scheduler& s, const Lane& one) {
  std::string text;
  Threads known = {&one};  // one of each line
  for (const Lane* lane : threads_where(s, [](const Lane&) { return true; })) {
    const auto at_its_line = [&](const Lane* other) { return wait_in_one_line(*lane, *other); };
    if (known.size() > 3 || std::any_of(known.begin(), known.end(), at_its_line)) continue;
    known.push_back(lane);
    const Threads those = threads_where(s, [&](const Lane& other) { return wait_in_one_line(*lane, other); });
    text += fmt::format("{}{} at the one of {}", text.empty() ? "" : ", ", threads_text(those),
                        describe_site(lane->wait_site));
  }
  return text;
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
  if (report_again("divergent-barrier", one.wait_site, other.wait_site)) return;
  // Two parts of the block, those like `one` and those like `other`, and what is said of each.
  const auto say = [&](auto alike, const char* format, const std::string& here = {}, const std::string& there = {}) {
    const Threads mine = threads_where(*this, [&](const Lane& lane) { return alike(lane, one); });
    const Threads its = threads_where(*this, [&](const Lane& lane) { return alike(lane, other); });
    return fmt::format(fmt::runtime(format), fmt::arg("mine", threads_text(mine)), fmt::arg("its", threads_text(its)),
                       fmt::arg("wait", either(mine, "waits", "wait")), fmt::arg("have", either(mine, "has", "have")),
                       fmt::arg("barrier", barrier), fmt::arg("here", here), fmt::arg("there", there));
  };
  std::string message;
  if (!wait_in_one_line(one, other)) {
    message = say(wait_in_one_line, "{mine} {wait} at the {barrier} of this line, but {there}", "",
                  other_lines_text(*this, one));
  } else if (one.wait_barrier != other.wait_barrier) {
    const auto at_one = [](const Lane& a, const Lane& b) {
      return wait_in_one_line(a, b) && a.wait_barrier == b.wait_barrier;
    };
    message = say(at_one, "{mine} {wait} at one {barrier} of this line, but {its} at another one of the same line");
  } else if (!in_same_iteration(one, other)) {
    message =
        say(in_same_iteration, "{mine} {wait} at this {barrier} in one iteration of a loop, but {its} in another");
  } else {
    const std::vector<std::string> path = path_to_barrier(one), path_there = path_to_barrier(other);
    const auto [mine, its] = std::mismatch(path.begin(), path.end(), path_there.begin(), path_there.end());
    if (mine == path.end() || its == path_there.end()) return;
    const auto called_alike = [](const Lane& a, const Lane& b) { return a.call_context == b.call_context; };
    message =
        say(called_alike, "{mine} {have} come to this {barrier} by the call in {here}, but {its} by the one in {there}",
            *mine, *its);
  }
  message += fmt::format("{}; all threads of {} must reach the same one", ended_text(*this), all);
  Finding f = finding_of("divergent-barrier", std::move(message), one, one.wait_site);
  f.other_site = other.wait_site;
  report_finding(std::move(f));
}

// No thread can go on, or those that can only spin. One part of the message for each place where threads wait.
void Scheduler::report_deadlock() {
  const Lane* first = nullptr;
  const Lane* in_warp_operation = nullptr;
  const Lane* spins = nullptr;
  std::vector<std::pair<std::string, Threads>> places;
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
      places.emplace_back(std::move(place), Threads{&lane});
    else
      known->second.push_back(&lane);
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
    const auto& [place, those] = places[i];
    text += fmt::format("{} {} {} {}", i == 0 ? ":" : ",", threads_text(those), either(those, "waits", "wait"), place);
  }
  text += ended_text(*this);
  fail(finding_of(code, std::move(text), *first, first->wait_site));
}

}  // namespace tilewise::sim
