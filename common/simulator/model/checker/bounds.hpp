// Where an access may go, and its alignment.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/checker/state.hpp"

namespace tilewise::sim::checker {

/// What the access lies inside; nothing when it must not be looked at further.
memory::Range check_bounds(State& s, Lane& lane, MemorySpace space, std::uintptr_t address, std::size_t bytes,
                           Access kind, const void* site);

[[noreturn]] void refuse_misaligned(const State& s, Lane& lane, MemorySpace space, std::uintptr_t address,
                                    std::size_t bytes, Access kind, const void* site, std::size_t alignment);

[[gnu::always_inline]] inline void check_alignment(const State& s, Lane& lane, MemorySpace space,
                                                   std::uintptr_t address, std::size_t bytes, Access kind,
                                                   const void* site, std::size_t alignment) {
  if ((address & (alignment - 1)) != 0) refuse_misaligned(s, lane, space, address, bytes, kind, site, alignment);
}

bool is_on_device(const memory::Allocation& a);

/// What the checks did not see coming: a stack that is full, or uninstrumented code with a wrong pointer.
void fault(std::uintptr_t address, void* site);

}  // namespace tilewise::sim::checker
