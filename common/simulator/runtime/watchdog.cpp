#include "runtime/watchdog.hpp"

#include <execinfo.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "runtime/findings.hpp"
#include "runtime/symbols.hpp"
#include "runtime/thread.hpp"

namespace tilewise::sim {
namespace {

constexpr std::uint64_t kManyPolls = 10'000;
constexpr long kTickMicroseconds = 10'000;

double seconds = 0;

/// What changes as long as a launch gets on, and what ran at the last tick.
struct Progress {
  std::uint64_t block = 0, threads = 0;
  bool operator==(const Progress&) const = default;
} progress;
const Lane* runner = nullptr;
long ticks = 0;         // without progress,
long ticks_of_one = 0;  // and of one thread

void set_timer(long microseconds) {
  const itimerval timer{{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

/// Where the running thread is, in the program's own code: the signal may have come in a function of ours that it calls.
const void* place_in_kernel() {
  void* frames[64];
  const int count = backtrace(frames, int(std::size(frames)));
  const std::vector<const void*> pcs(frames, frames + count);
  const std::vector<SourceLine> lines = source_lines(pcs);
  for (std::size_t i = 0; i < pcs.size(); ++i) {
    const std::string& file = lines[i].file;
    const bool ours =
        file.find("/simulator/runtime/") != std::string::npos || file.find("/simulator/model/") != std::string::npos;
    if (lines[i].line != 0 && !ours) return pcs[i];
  }
  return nullptr;
}

/// What it does is not async-signal-safe, but the signal came in the middle of a kernel, which holds no lock of the C library: the
/// runtime is never observed while it does things of its own.
void on_tick(int) {
  if (const Progress now{running_launch().block_serial, threads_ended}; now != progress) {
    progress = now;
    ticks = ticks_of_one = 0;
    return;
  }
  ++ticks;
  ticks_of_one = current_lane == runner ? ticks_of_one + 1 : 0;
  runner = current_lane;
  // Where threads take turns, at barriers, each has a share of the time.
  const long most = std::max(ticks_of_one, ticks / 2);
  if (double(most * kTickMicroseconds) < 1e6 * seconds || !observed_lane) return;
  if (idle_polls > kManyPolls) {  // threads that wait for others: the scheduler has a better word for that
    idle_polls = most_polls + 1;
    return;
  }
  const Lane& lane = *std::exchange(observed_lane, nullptr);
  set_timer(0);
  Finding f;
  f.code = "endless";
  f.message = fmt::format(
      "no thread of this block has come to its end in {:.2g} s of processor time, and it was stopped here: is there a "
      "loop around this "
      "line whose condition never becomes false?",
      double(ticks * kTickMicroseconds) / 1e6);
  f.site = place_in_kernel();
  if (f.site == nullptr) f.site = lane.wait_site;  // between two threads
  f.threads = describe_thread(lane);
  report_finding(std::move(f));
  std::exit(1);
}

}  // namespace

void watch_blocks() {
  const char* wanted = std::getenv("TILEWISE_BLOCK_SECONDS");
  if (wanted == nullptr || seconds != 0) return;
  char* end = nullptr;
  seconds = std::strtod(wanted, &end);
  if (end == wanted || *end != '\0' || !(seconds > 0)) {
    std::fprintf(stderr, "tilewise simulator: TILEWISE_BLOCK_SECONDS is \"%s\", which is no number above 0\n", wanted);
    std::exit(2);
  }
  void* frame[1];
  backtrace(frame, 1);  // the first call loads a library, for which a signal is no time
  struct sigaction action {};
  action.sa_handler = on_tick;
  action.sa_flags = SA_ONSTACK | SA_RESTART;  // a thread's own stack may be too small
  sigemptyset(&action.sa_mask);
  sigaction(SIGPROF, &action, nullptr);
  set_timer(kTickMicroseconds);
}

}  // namespace tilewise::sim
