// What the compiler's -fsanitize=return instrumentation calls where a function that returns a value comes to its end without a
// return. What the caller would go on with is undefined: often what the last call happened to leave in a register.
#include <cstdio>
#include <cstdlib>

#include "base/symbols.hpp"
#include "base/thread.hpp"
#include "driver_types.h"
#include "model/checker.hpp"
#include "tilewise_sim/report.hpp"

extern "C" [[noreturn]] __attribute__((noinline, visibility("default"))) void __ubsan_handle_missing_return(
    const void* /*data*/) {
  const void* const site = __builtin_return_address(0);
  if (tilewise::sim::Lane* const lane = tilewise::sim::current_lane) {
    tilewise::sim::Unobserved guard;
    tilewise::sim::checker::missing_return(*lane, site);
    tilewise::sim::abort_launch(cudaErrorLaunchFailure, true);
  }
  std::fprintf(stderr, "%s: %s\n", tilewise::sim::describe_site(site).c_str(), tilewise::sim::checker::kMissingReturn);
  std::_Exit(tilewise::sim::kEndedWithoutReturn);
}
