// Calls of computed addresses, of which a program that is not trusted may make none but to functions: simcc's option
// --check-calls, for the grader.
#pragma once

#include <string>

namespace tilewise::sim {

/// Assembly (x86-64, AT&T) in which each function is preceded by the 64-bit number `mark`, and in which an indirect call
/// goes through tilewise_checked_call with the address in %r11. Its memcpy and kin become the simulator's, and its variables
/// lie between the symbols tilewise_own_0_begin and tilewise_own_0_end, up to 3.
std::string check_calls(const std::string& assembly, const std::string& mark);

}  // namespace tilewise::sim
