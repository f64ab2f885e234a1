/// @file
/// Code of a submission's that would run before its program has entered its cage.
#pragma once

#include <string>

namespace tilewise::grader {

/// Whether the program has functions that the loader asks before anything else runs: resolvers of `ifunc`s. The compiler, the
/// assembler and the linker can each be brought to make one, so the program itself is looked at. False for what is no program
/// for this machine.
bool has_resolvers(const std::string& program);

}  // namespace tilewise::grader
