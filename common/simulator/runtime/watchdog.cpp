#include "runtime/watchdog.hpp"

#include <execinfo.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/findings.hpp"
#include "base/loaded_pieces.hpp"
#include "base/memory.hpp"
#include "base/symbols.hpp"
#include "base/thread.hpp"
#include "model/observer.hpp"

namespace tilewise::sim {
namespace {

constexpr std::uint64_t kManyPolls = 10'000;
constexpr long kTickMicroseconds = 10'000;

double seconds = 0;          // TILEWISE_BLOCK_SECONDS; 0: not watched
double program_seconds = 0;  // of all of it
bool prepared = false, ending = false;

/// What changes as long as a launch gets on, and what ran at the last tick.
struct Progress {
  std::uint64_t block = 0, threads = 0;
  bool operator==(const Progress&) const = default;
} progress;
const Lane* runner = nullptr;
long ticks = 0;         // without progress,
long ticks_of_one = 0;  // and of one thread

double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

void set_timer(long microseconds) {
  const itimerval timer{{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

/// Whether the program itself was running, and no library that may hold a lock: the C library's, for one.
bool in_program(std::uintptr_t address) {
#if defined(__linux__)
  return any_loaded_piece([=](const LoadedPiece& piece) { return piece.of_program && piece.contains(address); });
#else
  static_cast<void>(address);
  return true;
#endif
}

[[noreturn]] void end_with(Finding f, const Lane* lane) {
  ending = true;
  observed_lane = nullptr;
  set_timer(0);
  f.site = place_in_program();
  if (lane) {
    if (f.site == nullptr) f.site = lane->wait_site;  // between two threads
    f.threads = describe_thread(*lane);
  }
  report_finding(std::move(f));
  std::exit(1);
}

Finding endless(double without_end) {
  Finding f;
  f.code = "endless";
  f.message = fmt::format(
      "no thread of this block has come to its end in {:.2g} s of processor time, and it was stopped here: is there a "
      "loop around this "
      "line whose condition never becomes false?",
      without_end);
  return f;
}

/// How far the program was at a time.
struct Stage {
  double at = -1;  ///< -1: none yet
  Progress progress;
  std::uint64_t launches = 0;
  std::size_t written = 0;
};
Stage half_way;
double last_end = 0;  // of a block or a thread

Stage stage_now(double at) {
  return {at, progress, running_launch().serial, observer::checking ? memory::written_bytes() : 0};
}

[[noreturn]] void end_of_time(const Stage& now, const Lane* lane) {
  const bool stores = now.written > half_way.written, ends = now.progress != half_way.progress;
  const std::string stopped = fmt::format("it was stopped here after {:.2g} s of processor time", now.at);
  Finding f;
  f.code = "slow";
  if (!lane) {
    const auto launches = now.launches;
    if (now.launches > half_way.launches) {
      f.message = fmt::format("too slow: {}, between the launches {} and {}", stopped, launches, launches + 1);
    } else {
      f.code = "endless";
      f.message = fmt::format(
          "host code doesn't end: {}; is there a loop around this line whose condition never becomes "
          "false?",
          stopped);
    }
    end_with(std::move(f), lane);
  }
  if (!ends && !stores && now.launches == half_way.launches) end_with(endless(now.at - last_end), lane);
  const Launch& launch = running_launch();
  const dim3 grid = launch.config.grid;
  f.message = fmt::format("too slow, but it got on: {}, when {} of {} blocks of launch {} had ended{}", stopped,
                          grouped_digits(launch.block_serial - launch.blocks_before - 1),
                          grouped_digits(std::uint64_t{grid.x} * grid.y * grid.z), launch.serial,
                          ends ? "" : " and this one was still storing new results");
  end_with(std::move(f), lane);
}

/// Looks at the time of the whole program. False: it is time to look, but not now.
bool look_at_program(const Lane* observed, void* context) {
  const double now = processor_time();
  if (now < program_seconds / 2) return true;
  // Not while the runtime does things of its own, or a library.
  const Lane* const lane = current_lane;
  if (lane ? observer::active() && !observed
           : !in_program(reinterpret_cast<std::uintptr_t>(interrupted_instruction(context))))
    return half_way.at >= 0 && now < program_seconds;
  if (half_way.at < 0) half_way = stage_now(now);
  if (now >= program_seconds && prepared) end_of_time(stage_now(now), lane);
  return true;
}

/// Looks at the time of the running block. False: it is time to end it, but not here.
bool look_at_block(const Lane* observed) {
  // Where threads take turns, at barriers, each has a share of the time.
  const long most = std::max(ticks_of_one, ticks / 2);
  if (ticks == 0 || double(most * kTickMicroseconds) < 1e6 * seconds) return true;
  if (!observed) return false;
  if (idle_polls > kManyPolls) {  // threads that wait for others: the scheduler has a better word for that
    idle_polls = most_polls + 1;
    return true;
  }
  end_with(endless(double(ticks * kTickMicroseconds) / 1e6), observed);
}

void look(const Lane* observed, void* context) {
  const bool program_seen = program_seconds <= 0 || look_at_program(observed, context);
  const bool block_seen = seconds == 0 || look_at_block(observed);
  look_at_iteration = current_lane && !(program_seen && block_seen);
  if (look_at_iteration) follow_loops = true;
}

/// What it does is not async-signal-safe, but the signal came in the middle of a kernel, which holds no lock of the C library: the
/// runtime is never observed while it does things of its own. Or it came in the program's own host code.
void on_tick(int, siginfo_t*, void* context) {
  if (ending) return;
  // Functions of std::string and its kin may be the program's copies, which are observed.
  Lane* const observed = observed_lane;
  const Unobserved guard;
  if (const Progress now{running_launch().block_serial, threads_ended}; now != progress) {
    progress = now;
    ticks = ticks_of_one = 0;
    last_end = processor_time();
  } else {
    ++ticks;
    ticks_of_one = current_lane == runner ? ticks_of_one + 1 : 0;
    runner = current_lane;
  }
  // A loop's next iteration is the better place; at the next tick any will do.
  look(look_at_iteration ? observed : nullptr, context);
}

void watch() {
  struct sigaction action {};
  action.sa_sigaction = on_tick;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;  // a thread's own stack may be too small
  sigemptyset(&action.sa_mask);
  sigaction(SIGPROF, &action, nullptr);
  set_timer(kTickMicroseconds);
}

}  // namespace

constinit std::atomic<bool> look_at_iteration = false;

[[gnu::noinline]] void look_again(const Lane* lane) {
  look_at_iteration = false;
  const Unobserved guard;
  if (!ending) look(lane, nullptr);
}

void prepare_to_end() {
  void* frame[1];
  backtrace(frame, 1);  // the first call loads a library
  prepared = true;
}

void watch_blocks() {
  const char* wanted = std::getenv("TILEWISE_BLOCK_SECONDS");
  if (wanted == nullptr || seconds != 0) return;
  char* end = nullptr;
  seconds = std::strtod(wanted, &end);
  if (end == wanted || *end != '\0' || !(seconds > 0)) {
    std::fprintf(stderr, "tilewise simulator: TILEWISE_BLOCK_SECONDS is \"%s\", which is no number above 0\n", wanted);
    std::exit(2);
  }
  prepare_to_end();
  watch();
}

void watch_program(int most) {
  program_seconds = most;
  running_launch();  // makes what the handler asks, for which a signal is no time
  watch();
}

}  // namespace tilewise::sim
