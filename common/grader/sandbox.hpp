/// @file
/// Other programs as children: with limits for time, memory and output, in a session of their own, without network.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tilewise::grader {

struct ChildLimits {
  int cpu_seconds = 0;  ///< 0: no limits at all
  int wall_seconds = 0;
  std::size_t memory = std::size_t{1} << 30;
  std::size_t file = std::size_t{8} << 20;  ///< of everything it writes, each file
  bool cage = true;                         ///< refuse system calls, see isolation()
};

struct ChildResult {
  int code = -1;  ///< exit code; -1 when it was killed
  int signal = 0;
  bool timed_out = false;
  bool too_much_output = false;
  std::string output;  ///< stdout and stderr, mixed
  std::string reply;   ///< what it wrote to descriptor 4
};

/// Runs `command` (an absolute path first) with nothing but `environment` and, unless without limits, `request` to be
/// read from descriptor 3 and descriptor 4 to reply on. Kills what is left of its process group at the end.
ChildResult run_child(const std::vector<std::string>& command,
                      const std::vector<std::pair<std::string, std::string>>& environment, const std::string& request,
                      const ChildLimits& limits);

/// "cannot make processes or sockets": what this platform adds to the limits; "" if nothing.
std::string isolation();

}  // namespace tilewise::grader
