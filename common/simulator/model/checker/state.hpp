// What the checker knows of the launch that runs.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "model/checker/handed_over.hpp"
#include "model/known_places.hpp"
#include "model/observer.hpp"
#include "model/order.hpp"
#include "model/shadow.hpp"
#include "model/site_numbers.hpp"
#include "model/warp_log.hpp"

namespace tilewise::sim::checker {

using model::MemorySpace;
using observer::Access;
using observer::only_reads;
using observer::SharedPiece;

// The other access of a race.
struct Other {
  std::uint32_t interval;
  int thread;  // -1: not known
  Access kind;
  std::uint16_t site;
  bool is_volatile;
  bool updates = false;     // both stores follow a read of the same word: a sum, a maximum
  bool waited_for = false;  // an asynchronous copy, and its thread has waited for it
};

// Two threads stored to one word without order. Harmless when both stored the same value, which is known only after the
// second store: until then it waits here, and only then is it put into words.
struct DoubtfulStore {
  const void* address = nullptr;
  std::size_t bytes = 0;
  unsigned char before[16];
  // The second store, and the first.
  Lane* lane = nullptr;
  MemorySpace space{};
  const void* site = nullptr;
  Other other{};
};

// A place in the code as it was last found in order.
struct Visited {
  const void* site = nullptr;
  std::uint32_t block_first = 0;  // then
  std::uint16_t number = 0;
  MemorySpace space{};
  memory::Range inside;  // of which allocation or shared variable
};

// The word of which a thread has got a value by an atomic, the last one.
struct Taken {
  std::uintptr_t address = 0;
  std::uint32_t block_first = 0;  // by which block

  bool is(std::uintptr_t here, std::uint32_t block) const { return address == here && block_first == block; }
};

struct State {
  Shadow shadow;
  WarpClock clocks[kMaxWarps];
  std::uint32_t interval = 0, block_first = 1, launch_first = 1;
  std::uint32_t unordered_first = 1;     // of the launches that need not come before this one; launch_first: all do
  std::vector<const order::Used*> uses;  // of memory, by copies and the like that need not
  bool notes_constants = false;          // reads of constant memory are remembered: streams may copy to it
  std::uint32_t epoch_first = 1;         // interval that the last barrier began
  std::uint32_t shared_first = 1;        // from which on the running block has written to its shared memory
  std::vector<std::pair<std::uint32_t, uint3>> blocks;  // first interval of each block of the launch
  std::vector<SharedPiece> pieces;
  SiteNumbers sites;            // cells name them by number
  std::bitset<0x10000> copies;  // which of them are asynchronous copies
  Visited visited[256];         // by some bits of the site
  DoubtfulStore doubt;

  // Handing over without a barrier: after a fence, an atomic or volatile store passes on what was written before; who
  // reads that word with an atomic or volatile access takes over.
  bool fenced = false;                                         // some thread of the running block has executed a fence
  BlockFences fences;                                          // all but __threadfence_block(),
  bool fenced_within_block = false;                            // which some thread of the launch has executed
  bool fenced_in_launch = false;                               // any of them
  std::unordered_map<std::uintptr_t, HandedOver> handed_over;  // at each word
  std::vector<TakenOver> taken_over;                           // by the running block, from other blocks
  std::uint32_t acquired[kMaxThreadsPerBlock] = {};            // by each thread, from its own block
  Taken took[kMaxThreadsPerBlock];

  const Lane* indexed_wrongly = nullptr;  // has just used an index outside an array

  // Where races are no longer looked for: the places that are known, those in shared memory in the running block.
  std::vector<KnownPlace*> known, known_in_block;

  std::uint16_t number(const void* site) {
    if (const Visited& v = visit(site); v.site == site) return v.number;
    return sites.number(site);
  }

  Visited& visit(const void* site) {
    const auto bits = reinterpret_cast<std::uintptr_t>(site);
    return visited[(bits ^ bits >> 8) % std::size(visited)];
  }
};

State& make_state();
[[gnu::visibility("hidden")]] extern constinit State* made_state;  ///< so that each access finds it without a detour

[[gnu::always_inline]] inline State& state() {
  if (made_state == nullptr) [[unlikely]]
    make_state();
  return *made_state;
}

/// Accesses at these places are looked at again.
void forget(std::vector<KnownPlace*>& places);

}  // namespace tilewise::sim::checker
