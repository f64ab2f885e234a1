// Integers that are divided by zero. On x86-64 that is a signal; AArch64 gives 0 and goes on.
#pragma once

#include <string>

namespace tilewise::sim {

/// Assembly of AArch64 in which a division by a register that holds 0 calls the runtime's tilewise_divided_by_zero, which doesn't return.
std::string look_at_divisions(const std::string& assembly);

}  // namespace tilewise::sim
