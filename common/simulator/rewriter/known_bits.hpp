// Which accesses nvcc could merge: those of which the code says how the address ends in binary. simcc reads it off the
// compiler's own assembly, where an address is a sum of what the runtime says of shared memory, of constants, and of
// indices times their widths.
#pragma once

#include <string>

namespace tilewise::sim {

/// Assembly in which the accesses whose last 3 or 4 bits are known call a hook of their own: __tsan_read4 becomes
/// tilewise_read4_known4, or _known5 where the whole address is that of a shared variable and a constant. The start of a shared variable is known; a parameter, an index of a thread and what memory holds
/// are not. Adding a constant again and again, as a loop does, leaves known what is known.
std::string tell_known_bits(const std::string& assembly);

}  // namespace tilewise::sim
