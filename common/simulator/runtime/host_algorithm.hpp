// Host code that works on device memory, since a library whose source the program includes does (Thrust).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory.hpp"
#include "tilewise_sim/host_algorithm.hpp"

namespace tilewise::sim {

/// How many such algorithms are running, one inside the other.
extern int host_algorithms;

/// For the hooks: one of them accesses device memory.
void algorithm_accesses(std::uintptr_t address, std::size_t bytes, bool writes, const void* site);
/// The same of a copy by a call of the C library.
void algorithm_copies(void* to, const void* from, std::size_t bytes, const void* site);

inline bool is_of_algorithm(std::uintptr_t address) { return host_algorithms > 0 && memory::in_device_arena(address); }

}  // namespace tilewise::sim
