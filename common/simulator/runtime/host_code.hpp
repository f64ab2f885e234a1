// What the host gives to the device and only the host can run: addresses of its functions, and objects whose tables of virtual
// functions are the host's. In the simulator both are one program, and would run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tilewise::sim::host_code {

/// `bytes` of the host's have been copied to device memory.
void copied_to_device(const void* to, std::size_t bytes);
/// Inside of device memory.
void copied_on_device(const void* to, const void* from, std::size_t bytes);
/// `bytes` of device memory have been copied to the host, which may give them to the device again.
void copied_to_host(const void* from, std::size_t bytes);

/// A launch's arguments.
void passed(std::string_view arguments);

/// A constructor, in device code or in the host's, has written where the object's table of virtual functions lies.
void makes_object(const void* object, bool on_device);

/// The memory is free.
void forget(std::uintptr_t begin, std::size_t bytes);

}  // namespace tilewise::sim::host_code
