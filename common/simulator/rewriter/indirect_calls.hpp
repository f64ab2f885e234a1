// Calls of computed addresses: by a pointer to a function, or by an object's table of virtual functions. In device code both must
// come from the device.
#pragma once

#include <string>

namespace tilewise::sim {

/// Assembly (x86-64, AT&T) in which an indirect call goes through the runtime's tilewise_indirect_call (runtime/host_code.hpp), with the
/// address in %r11.
std::string look_at_indirect_calls(const std::string& assembly);

}  // namespace tilewise::sim
