// Words for messages: which thread, which block, and what lies at an address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/checker/state.hpp"

namespace tilewise::sim::checker {

/// What an access does: "reads", "updates".
const char* verb(Access kind);

/// "(3,0,0)": the thread of the running block with this number; and the block that was running in this interval.
std::string thread_triple(unsigned thread);
std::string block_triple(const State& s, std::uint32_t interval);

/// With commas between the thousands.
std::string grouped(std::int64_t n);

/// "element 5" of elements as wide as the access, or "byte 3" between two of them.
std::string element(std::int64_t offset, std::size_t bytes);

/// What lies at an address: "s[5]", "element 5 of the 16-element (4-byte) device allocation made at a.cu:3"; and for an
/// address outside, in which way: ", past its end".
struct Place {
  std::string name;
  std::string outside;
};

Place shared_place(const State& s, std::uintptr_t address, std::size_t bytes);
/// `meant`: what the access was in when it was last in order; nullptr where that isn't known.
Place global_place(std::uintptr_t address, std::size_t bytes, const memory::Allocation* meant = nullptr);
Place place(const State& s, MemorySpace space, std::uintptr_t address, std::size_t bytes);

}  // namespace tilewise::sim::checker
