// Which `__shared__` variables a kernel has, known before it runs: simcc reads it off the compiler's own assembly.
#pragma once

#include <string>

namespace tilewise::sim {

/// Assembly with a table at its end, in a section of its own: for each kernel the variables that it, or a function of this file
/// that it calls, mentions. Its entries are pairs of addresses: the kernel, a SharedVariable (tilewise_sim/device.hpp).
std::string list_shared_variables(const std::string& assembly);

}  // namespace tilewise::sim
