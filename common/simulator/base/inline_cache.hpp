// Where each place of the program's code may load or store without calling a hook. simcc puts a cache in front of each call of a hook
// (rewriter/inline_caches.hpp); all are empty at first, and the hook fills one where it finds that whatever that place does inside a
// stretch of memory is no matter: until something happens that changes this.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tilewise::sim::inline_cache {

/// What empties a cache. A place may have been filled for one reason and then for another: any of them empties it.
enum class Until : unsigned {
  places_are_forgotten,  ///< the places in which a launch no longer looks for races: see KnownPlace
  threads_poll,          ///< the same, of stores: a thread that waits is to see that another got further
  stack_changes,         ///< a thread's own variables, which lie on its stack
  host_is_watched,       ///< memory that host code may use as it likes
  launch_ends,           ///< a kernel that is not observed, which may do as it likes
};
constexpr unsigned kReasons = 5;

struct alignas(16) Cache {
  std::uintptr_t begin = 0;
  std::size_t count =
      0;  ///< the access may be one of so many, side by side, from `begin`. simcc's assembly reads these two
  Cache* next[kReasons] = {};  ///< the list of those that are filled for this reason; null: it isn't in the list
};

extern constinit Cache* filled[kReasons];

/// From here on the place may access `bytes` wherever that begins between `begin` and `begin + last` and is aligned.
void fill(Cache& cache, std::uintptr_t begin, std::size_t last, std::size_t bytes, Until until);

void empty_all(Until until);
inline void empty(Until until) {
  if (filled[static_cast<unsigned>(until)] != nullptr) [[unlikely]]
    empty_all(until);
}

}  // namespace tilewise::sim::inline_cache
