// What simcc adds to AArch64's assembly makes functions longer than the compiler reckons with.
#pragma once

#include <string>

namespace tilewise::sim {

/// Assembly of AArch64 in which `tbz` and `tbnz`, which reach 32 KB only, jump over a branch that reaches 128 MB. It comes last.
std::string lengthen_jumps(const std::string& assembly);

}  // namespace tilewise::sim
