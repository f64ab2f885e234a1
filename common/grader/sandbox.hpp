/// @file
/// Other programs as children: with limits for time, memory and output, in a session of their own, without network.
/// cage.hpp has what a submission is put into besides.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewise::grader {

/// What a child may not do.
enum class Cage {
  none,
  learner,     ///< one's own program: no new processes and threads, no sockets, no signals, where the platform can that
  driver,      ///< what a GPU's driver needs is allowed: threads, and sockets of this machine that connect to nothing
  submission,  ///< a program with harness.cpp in it, which enters the cage of cage.hpp before all else
  open         ///< the same program, and nothing is refused: somebody has said that it may
};

/// What a child may not do is in the cage; this is how it's ended when the grader is told to end.
enum class Ending { at_once, by_itself };  ///< by_itself: it's a grader, with children and files of its own

struct ChildLimits {
  int cpu_seconds = 0;  ///< 0: no limits at all
  int wall_seconds = 0;
  std::size_t memory = std::size_t{1} << 30;  ///< 0: no limit
  std::size_t file = std::size_t{8} << 20;    ///< of everything it writes, each file
  unsigned open_files = 64;
  Cage cage = Cage::learner;
  Ending ending = Ending::at_once;
  std::size_t reply = std::size_t{64} << 20;  ///< of a submission, with the report
  /// Answers a submission's question (base/symbols.hpp).
  std::function<std::string(const std::string& question)> answer = {};
};

struct ChildResult {
  int code = -1;  ///< exit code; -1 when it was killed
  int signal = 0;
  bool timed_out = false;
  bool starved = false;  ///< timed out, and has not had half of the processor's time that it may use
  bool too_much_output = false;
  std::string output;  ///< stdout and stderr, mixed
  std::string reply;   ///< what it wrote to descriptor 4
  std::string report;  ///< of a submission: the simulator's
};

/// Runs `command` (an absolute path first) with nothing but `environment` and, unless without limits, `request` to be
/// read from descriptor 3 and descriptor 4 to reply on. Kills what is left of its process group at the end.
ChildResult run_child(const std::vector<std::string>& command,
                      const std::vector<std::pair<std::string, std::string>>& environment, const std::string& request,
                      const ChildLimits& limits);

/// "it aborted", of a child that a signal ended.
std::string signal_text(int number);

/// A child that is talked with while it runs: it reads from descriptor 3 and writes to descriptor 4. Killed at the end.
/// What it prints goes nowhere. It has no wall-clock limit of its own; send() and receive() have.
class Conversation {
 public:
  Conversation(const std::vector<std::string>& command,
               const std::vector<std::pair<std::string, std::string>>& environment, const ChildLimits& limits);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  /// False when the child is gone, or does not take it within `seconds`.
  bool send(std::string_view bytes, double seconds);
  /// Exactly so many bytes; false when the child is gone, or does not send them within `seconds`.
  bool receive(void* to, std::size_t bytes, double seconds);

 private:
  pid_t child_ = -1;
  int socket_ = -1;
};

/// Ends all children that there are, and lets no other start; what they were part of never goes on. For who was told to end.
void end_all_children();

/// Whether this platform can refuse system calls to a learner's program, or a driver's.
bool refuses_system_calls();

}  // namespace tilewise::grader
