// Places in the code, and the memory that each has been found to use: what a launch looks at where it no longer looks for races.
#pragma once

#include <cstdint>

#include "base/memory.hpp"
#include "model/observer.hpp"
#include "model/race_search.hpp"

namespace tilewise::sim::checker {

/// One place, and a stretch of memory in which it may do what it does.
struct alignas(32) KnownPlace {
  const void* site = nullptr;
  std::uintptr_t begin = 0;
  std::size_t last = 0;          ///< where its last access may begin, from there
  bool written_in_part = false;  ///< each load asks whether its bytes have been written, each store notes it
  bool in_block = false;         ///< shared memory of the running block
};

constexpr std::size_t kKnownPlaces = 1024;
extern constinit KnownPlace known_places[kKnownPlaces];

inline KnownPlace& known_place(const void* site) {
  const auto bits = reinterpret_cast<std::uintptr_t>(site);
  return known_places[(bits ^ bits >> 10) % kKnownPlaces];
}

/// The place, if another access of it went to the same memory: then nothing is wrong with an ordinary one, as far as bounds go.
[[gnu::always_inline]] inline const KnownPlace* stays_in_known_place(std::uintptr_t address, std::uint32_t bytes,
                                                                     const void* site) {
  const KnownPlace& place = known_place(site);
  const bool stays = place.site == site && address - place.begin <= place.last && (address & (bytes - 1)) == 0;
  return stays ? &place : nullptr;
}

/// The same of an atomic or volatile one, whose places are known only while nothing that a fence follows can be handed on by it.
inline bool needs_no_look(std::uintptr_t address, std::uint32_t bytes, const void* site) {
  if (race_search::goes_on()) return false;
  const KnownPlace* place = stays_in_known_place(address, bytes, site);
  return place != nullptr && !place->written_in_part;
}

}  // namespace tilewise::sim::checker
