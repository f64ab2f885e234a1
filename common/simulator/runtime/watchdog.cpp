#include "runtime/watchdog.hpp"

#include <execinfo.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/time.h>

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
std::uint64_t watched = 0;  // the block that ran at the last tick,
long ticks = 0;             // and for how many it has

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
  if (running_launch().block_serial != watched) {
    watched = running_launch().block_serial;
    ticks = 0;
    return;
  }
  ++ticks;
  if (double(ticks * kTickMicroseconds) < 1e6 * seconds || !observed_lane) return;
  if (idle_polls > kManyPolls) {  // threads that wait for others: the scheduler has a better word for that
    idle_polls = kMostPolls + 1;
    return;
  }
  const Lane& lane = *std::exchange(observed_lane, nullptr);
  set_timer(0);
  Finding f;
  f.code = "endless";
  f.message = fmt::format(
      "this block had not ended after {:g} s of processor time, and was stopped here: is there a loop around this line "
      "whose "
      "condition never becomes false?",
      seconds);
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
