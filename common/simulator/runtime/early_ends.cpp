// Device code that ends its launch: __trap(), assert(), a promise that does not hold.
#include <fmt/format.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include "base/findings.hpp"
#include "base/thread.hpp"
#include "cuda_runtime_api.h"
#include "runtime/scheduler.hpp"

namespace tilewise::sim {

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
