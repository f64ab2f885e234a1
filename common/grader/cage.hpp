/// @file
/// What keeps a submission in: a list of the system calls that it may make, namespaces of its own, Landlock.
#pragma once

#include <sys/types.h>

#include <string>

namespace tilewise::grader {

/// The system calls that a submission's program may make, as instructions for enter_cage(); "" where the grader was
/// built without libseccomp.
const std::string& system_call_filter();

/// Makes the namespaces that submissions get, where the system allows it, and hides this process's memory from others.
/// Called once, at the begin of main(): the namespaces end with the thread that made them.
void prepare_cage();

/// fork(), and the child is in those namespaces. Throws std::runtime_error.
pid_t fork_into_namespaces();

struct Isolation {
  bool holds = false;  ///< nothing foreign may run unless this is true, or somebody says that it may
  std::string text;    ///< what holds, for people and for the verdict's JSON
};

/// Tried out, once, by a process that enters the cage and then opens a file.
const Isolation& isolation();

}  // namespace tilewise::grader
