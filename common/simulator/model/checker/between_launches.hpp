// What uses the same memory, and need not have ended: other launches, copies, the host.
#pragma once

#include "model/checker/access.hpp"

namespace tilewise::sim::checker {

/// Where the cell was used by launches that may be unordered with this one. Atomics of both are in order enough.
void check_other_launches(const Now& now, const Cell& c);

/// Copies and the like that need not come before this launch, and use the same bytes. What is left of `inside` around the access
/// is used by none of them.
void check_other_work(const Now& now, memory::Range& inside);

}  // namespace tilewise::sim::checker
