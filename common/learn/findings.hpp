/// @file
/// The simulator's findings, for learners: which one comes first, and what to do about it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "learn/workshop.hpp"

namespace tilewise::learn {

struct Finding {
  std::string kind;
  std::string file;  ///< without its folders
  std::string message, threads, kernel;
  int line = 0, other_line = 0;
  long times = 1;
  bool note = false;  ///< worth knowing, and nothing wrong
};

/// Of all launches, in their order.
std::vector<Finding> all_findings(const Json& report);

/// The one that a learner should look at: what leaves an array, or a barrier that not all threads meet, comes before the races
/// that come of it. Notes are none.
std::optional<Finding> first_finding(const Json& report);

/// A message of the simulator's: paths become names, the file is the learner's, wherever it was compiled; and an index is written
/// as in the source, [1024].
std::string as_learners_say(std::string message);

/// One sentence about findings of this kind; "" where the finding says all.
std::string advice_for(const std::string& kind);

}  // namespace tilewise::learn
