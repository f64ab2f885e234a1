// Calls of computed addresses: by a pointer to a function, or by an object's table of virtual functions. In device code both must
// come from the device.
#pragma once

#include <string>

namespace tilewise::sim {

/// Assembly in which an indirect call goes through the runtime's tilewise_indirect_call (runtime/host_code.hpp), with the address in %r11,
/// or in x9 on AArch64: x16 and x17 are the linker's, on the way there.
std::string look_at_indirect_calls(const std::string& assembly);

}  // namespace tilewise::sim
