// Launches that are asked for again, as a benchmark's loop does, and would change nothing.
//
// A kernel's results follow from its arguments and from memory. So a launch that was run twice, and the second time left every
// byte as it was, leaves them so a third time, as long as nothing else has changed memory: it need not be run. What is compared
// are the bytes themselves, and what is found in such a launch (findings) or is seen of it outside memory (printf, clocks, memory
// of the host or of the device's heap, launches of its own) lets it be run each time. Nothing is skipped where accesses are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/thread.hpp"

namespace tilewise::sim::repeats {

/// What is known of a launch with certain arguments.
struct Known;

/// One launch, from its beginning to its end. Made when it is known whether its accesses are checked and counted.
class Attempt {
 public:
  /// `arguments`: the bytes that say, together with `thread` and the configuration, what the launch does; empty: nobody knows.
  Attempt(const LaunchConfig& config, void (*thread)(void*), std::string_view arguments);

  /// It would change nothing, so that skip() may stand for running it.
  bool changes_nothing() const;
  void skip(Launch& launch) const;

  /// Around running it.
  void begin();
  void end(const Launch& launch, bool aborted);

 private:
  bool can_compare() const;

  Known* known_ = nullptr;
  bool compares_ = false;
  std::uint64_t threads_ = 0;
  std::uint64_t effects_ = 0, findings_ = 0, changes_ = 0;
  std::uint32_t first_ = 0;
  std::vector<unsigned char> before_;  // the device's memory and variables, one allocation after another
};

}  // namespace tilewise::sim::repeats
