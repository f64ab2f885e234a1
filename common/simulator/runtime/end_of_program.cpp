#include "runtime/end_of_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "base/device_lock.hpp"
#include "base/findings.hpp"
#include "base/for_ever.hpp"
#include "base/memory.hpp"
#include "base/thread.hpp"
#include "cuda_runtime_api.h"
#include "model/order.hpp"
#include "model/race_search.hpp"
#include "model/report.hpp"
#include "model/sample.hpp"
#include "runtime/errors.hpp"
#include "runtime/printing.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim {
namespace {

struct ProgramSoFar {
  unsigned launch_thread = 0;           // which has made the launch below
  const void* printing_site = nullptr;  // of the last launch that has printed
  std::uint64_t waits_before_printing = 0;
  int launch_error = cudaSuccess;  // of a launch whose failure nobody has asked for yet
  const void* launch_site = nullptr;
  std::string launch_cure;
  CUstream_st* demanded_stream = nullptr;
};

ProgramSoFar& so_far() {
  static ProgramSoFar* s = for_ever<ProgramSoFar>();  // programs launch in destructors of static objects, too
  return *s;
}

// One note for each place that allocates. Memory that is still there when the program ends costs nothing, but the same
// line in a loop would run out of memory.
void note_leaks() {
  struct Leak {
    std::uint64_t count = 0, bytes = 0;
  };
  std::map<const void*, Leak> leaks;
  std::vector<const void*> order;
  if (any_sticky_error()) return;  // then cudaFree fails, too
  const bool strict = findings_are_strict();
  if (finding_count() != 0 && !strict) return;  // first things first; and the program may have ended early
  for (const memory::Allocation* a : memory::live_allocations()) {
    if (a->kind == memory::Kind::registered) continue;
    Leak& leak = leaks[a->call_site];
    if (leak.count++ == 0) order.push_back(a->call_site);
    leak.bytes += a->bytes;
  }
  for (const void* site : order) {
    const Leak& leak = leaks[site];
    Finding f;
    f.code = "leak";
    f.message = leak.count == 1 ? fmt::format("the {} bytes allocated here are never freed", grouped_digits(leak.bytes))
                                : fmt::format("{} allocations made here, {} bytes together, are never freed",
                                              grouped_digits(leak.count), grouped_digits(leak.bytes));
    f.site = site;
    f.note = !strict;
    report_finding(std::move(f));
  }
}

/// Measured on an H100: what ends a wait for the kernel brings its output, cudaFree too; a later launch, cudaMemset and cudaStreamQuery
/// don't.
void note_lost_output() {
  const ProgramSoFar& s = so_far();
  if (s.printing_site == nullptr || order::host_has_waited() != s.waits_before_printing || any_sticky_error()) return;
  const bool strict = findings_are_strict();
  if (finding_count() != 0 && !strict) return;
  Finding f;
  f.code = "lost-output";
  f.message =
      "this kernel prints, and the program ends without having waited for it: on a GPU nothing of that is seen; call "
      "cudaDeviceSynchronize()";
  f.site = s.printing_site;
  f.note = !strict;
  report_finding(std::move(f));
}

void report_unchecked_launch() {
  ProgramSoFar& s = so_far();
  if (s.launch_error == cudaSuccess) return;
  const auto error = static_cast<cudaError_t>(s.launch_error);
  Finding f;
  f.code = "unchecked-launch";
  f.message =
      fmt::format("this launch failed with {} ({}), and the program never asked: call cudaGetLastError() after it{}",
                  cudaGetErrorName(error), cudaGetErrorString(error), s.launch_cure);
  f.site = s.launch_site;
  report_finding(std::move(f));
}

// A program with findings must not look like one that went well. A function registered with atexit cannot change the
// exit code, so the process ends here, after everything is written.
void end_of_program() {
  printing::what_is_left();
  if (!findings_are_off()) {
    report_unchecked_launch();
    note_lost_output();
    note_leaks();
  }
  show_findings();
  say_what_was_sampled();
  race_search::say_where_it_ended();
  const std::size_t wrong = finding_count();
  if (wrong != 0 && !findings_only_warn() && !shows_no_findings()) {
    std::fprintf(stderr, "tilewise: %zu finding%s; exit code 1 (TILEWISE_FINDINGS=warn keeps the program's own)\n",
                 wrong, wrong == 1 ? "" : "s");
  }
  if (!findings().empty() || report_wanted()) write_report_now();
  if (wrong == 0 || findings_only_warn()) return;
  std::fflush(nullptr);
  _exit(1);
}

// Registered before anything of the program's own, so that it runs after the program's last destructor.
__attribute__((constructor(101))) void watch_end_of_program() { std::atexit(end_of_program); }

}  // namespace

void demand_stream(CUstream_st* stream) { so_far().demanded_stream = stream; }

void check_demanded_stream(const char* work, const char* cure, CUstream_st* stream, void* call_site) {
  const CUstream_st* demanded = so_far().demanded_stream;
  if (demanded == nullptr || stream == demanded || findings_are_off()) return;
  report_finding("other-stream",
                 fmt::format("{} goes to {}, not to the stream that the function was given: {}", work,
                             stream == nullptr ? "the default stream" : "another stream", cure),
                 call_site);
}

// Never used again, as a thread's id is.
static unsigned number_of_this_thread() {
  static std::atomic<unsigned> threads = 0;
  thread_local const unsigned number = ++threads;
  return number;
}

void launch_failed(int error, const void* call_site, const std::string& cure) {
  ProgramSoFar& s = so_far();
  if (s.launch_error != cudaSuccess) return;
  s.launch_error = error;
  s.launch_thread = number_of_this_thread();
  s.launch_site = call_site;
  s.launch_cure = cure;
}

void launch_prints() {
  ProgramSoFar& s = so_far();
  s.printing_site = running_launch().site;
  s.waits_before_printing = order::host_has_waited();
}

void launch_error_seen() {
  const DeviceLock lock(device_mutex());
  ProgramSoFar& s = so_far();
  if (s.launch_error != cudaSuccess && s.launch_thread == number_of_this_thread()) s.launch_error = cudaSuccess;
}

}  // namespace tilewise::sim
