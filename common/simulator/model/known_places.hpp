// Places in the code, and the memory that each has been found to use: what a launch looks at where it no longer looks for races.
#pragma once

#include <cstdint>

#include "model/observer.hpp"
#include "runtime/memory.hpp"

namespace tilewise::sim::checker {

/// One place, and a stretch of memory in which it may do what it does.
struct alignas(32) KnownPlace {
  const void* site = nullptr;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool written_in_part = false;  ///< each load asks whether its bytes have been written, each store notes it
};

constexpr std::size_t kKnownPlaces = 1024;
extern constinit KnownPlace known_places[kKnownPlaces];

inline KnownPlace& known_place(const void* site) {
  const auto bits = reinterpret_cast<std::uintptr_t>(site);
  return known_places[(bits ^ bits >> 10) % kKnownPlaces];
}

/// Whether nothing is wrong with an ordinary access, as far as bounds go, since another of its place went to the same memory.
template <observer::Access kind, std::uint32_t bytes>
[[gnu::always_inline]] inline bool stays_in_known_place(std::uintptr_t address, const void* site) {
  const KnownPlace& place = known_place(site);
  const std::uintptr_t offset = address - place.begin;
  if (place.site != site || offset >= place.bytes || place.bytes - offset < bytes || (address & (bytes - 1)) != 0)
    return false;
  if (!place.written_in_part) return true;
  if (kind == observer::Access::load) return memory::is_written(address, bytes);
  memory::mark_written(address, bytes);
  return true;
}

}  // namespace tilewise::sim::checker
