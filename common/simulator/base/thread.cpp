#include "base/thread.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "driver_types.h"

// simcc adds to these at every basic block (rewriter/arithmetic.hpp), in host code too: what counts is the difference, in the OS
// thread that runs the launch. Code finds them by their distance from the thread's pointer (local-exec, in libraries initial-exec).
TILEWISE_FLOP std::uint64_t tilewise_flop[2];

namespace tilewise::sim {

// Before main(): a wrong value ends the program before it does anything.
static std::uint64_t polls_from_environment() {
  constexpr std::uint64_t kFewest = 10'000, kMostPolls = 40'000'000;
  const char* value = std::getenv("TILEWISE_POLLS");
  if (value == nullptr || *value == '\0') return kMostPolls;
  const char* end = value + std::strlen(value);
  std::uint64_t number = 0;
  const auto [last, error] = std::from_chars(value, end, number);
  if (error == std::errc() && last == end && number >= kFewest && number <= kMostPolls) return number;
  std::fprintf(stderr, "TILEWISE_POLLS '%s': not a number of polls; allowed are %llu to %llu\n", value,
               static_cast<unsigned long long>(kFewest), static_cast<unsigned long long>(kMostPolls));
  std::exit(2);
}

constinit Launch the_launch;
constinit thread_local Lane* current_lane = nullptr;
constinit thread_local Lane* observed_lane = nullptr;
constinit bool observer::counting = false, observer::checking = false;
constinit std::uintptr_t own_stack_end = 0;
constinit OwnArithmetic own_arithmetic_seen;
Stacks thread_stacks[2];
bool launches_only = false, corners_only = false;
bool follow_loops = true;
bool threads_waited = false;
std::uint64_t corner_accesses_left = 0;
std::uint64_t launch_effects = 0;
std::uint64_t idle_polls = 0;
const std::uint64_t most_polls = polls_from_environment();
std::uint64_t threads_ended = 0;
char* shared_begin = nullptr;

static AbortLaunch aborts = nullptr;
void set_abort_launch(AbortLaunch does_it) { aborts = does_it; }

void abort_launch(int error, bool sticky) {
  aborts(error, sticky);
  std::abort();
}

void count_access_of_corner() {
  if (corners_only && --corner_accesses_left == 0) abort_launch(cudaSuccess, false);
}

bool on_thread_stack(const void* address) {
  for (const Stacks& stacks : thread_stacks)
    if (address >= stacks.begin && address < stacks.end) return true;
  return false;
}

const char* describe_thread(const Lane& lane) {
  static char text[120];
  const uint3 b = the_launch.block;
  std::snprintf(text, sizeof text, "block (%u,%u,%u), thread (%u,%u,%u)", b.x, b.y, b.z, lane.index.x, lane.index.y,
                lane.index.z);
  return text;
}

std::string thread_triple(const Lane& lane) {
  return fmt::format("({},{},{})", lane.index.x, lane.index.y, lane.index.z);
}

bool in_kernel() { return current_lane != nullptr; }

void unsupported(const char* feature) {
  std::fprintf(stderr, "tilewise simulator: %s is not supported; run this program on a GPU\n", feature);
  std::exit(1);
}

}  // namespace tilewise::sim
