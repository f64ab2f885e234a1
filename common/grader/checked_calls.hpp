/// @file
/// Calls of computed addresses, in a submission: only of its own functions, and of those that it may call by name. So it
/// cannot reach the simulator's by counting from one that it may know.
#pragma once

#include <cstdint>
#include <string>

namespace tilewise::grader {

/// Whether that can be had here: x86-64 Linux.
bool can_check_calls();

/// The assembly of tilewise_checked_call, with what `symbols`, the output of nm -S for the submission, says it calls; and a
/// table of its variables. `mark` is the number that simcc --check-calls put before its functions.
std::string checked_call_assembly(const std::string& symbols, std::uint64_t mark);

}  // namespace tilewise::grader
