/// @file
/// What a process does to itself before it runs a submission. It is also linked into the submission's program, so it
/// needs nothing but the system.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilewise::grader {

/// Stands in a filter of system calls where the process's own number belongs: that isn't known when the filter is made.
constexpr std::uint32_t kOwnProcess = 0x5e1f5e1f;

/// The request of a caged program begins with this, followed by so many instructions of a filter (cage.hpp).
struct CageHeader {
  std::uint32_t instructions = 0;
  std::uint32_t reply_bytes = 0;  ///< of the memory behind the reply's descriptor
};

enum class Entered {
  no,                ///< nothing foreign may run: errno says why
  system_calls,      ///< refused, but for those of the filter
  files_refused_too  ///< by Landlock: should a call get through, it still finds no file
};

/// No new privileges, no core, no debugger, no file (Landlock) and no system call that `filter` doesn't name, for ever.
/// `filter` is an array of struct sock_filter, in which kOwnProcess is replaced.
Entered enter_cage(void* filter, std::size_t instructions);

/// The exit code of a program that couldn't enter its cage.
constexpr int kNotCaged = 70;

}  // namespace tilewise::grader
