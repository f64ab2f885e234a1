#include "model/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <bitset>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/devices.hpp"
#include "base/findings.hpp"
#include "base/for_ever.hpp"
#include "base/inline_cache.hpp"
#include "base/loaded_pieces.hpp"
#include "base/memory.hpp"
#include "base/symbols.hpp"
#include "driver_types.h"
#include "model/async_copies.hpp"
#include "model/known_places.hpp"
#include "model/race_search.hpp"
#include "model/shadow.hpp"
#include "model/site_numbers.hpp"

namespace tilewise::sim::checker {

constinit KnownPlace known_places[kKnownPlaces];

namespace {

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

// What a store or atomic of one block has told to others: the accesses that a fence stands behind, before that store.
struct Release {
  std::uint32_t block_first;         // which block,
  std::uint32_t at;                  // and in which interval
  std::uint32_t before = 0;          // accesses of all its threads in the intervals before this one,
  std::uint32_t through = 0;         // up to this one, which its thread knew of by a flag within the block,
  std::vector<std::uint16_t> until;  // and each thread's up to its time then
  std::uint32_t other_blocks = 0;    // and of other blocks, whose flags it had seen, up to this interval

  bool covers(std::uint32_t interval, unsigned thread, std::uint16_t time) const {
    return interval < before || interval <= through ||
           (interval <= at && thread < until.size() && time <= until[thread]);
  }
};

// What was handed over at one word.
struct HandedOver {
  std::uint32_t interval = 0;     // up to which, within the block
  std::vector<Release> releases;  // to other blocks, in the order of blocks
};

// A thread of the running block has seen what other blocks handed over. It counts for those that know of it and have a fence
// behind that: a barrier or a meeting of lanes passes on both.
struct TakenOver {
  const HandedOver* from;
  std::size_t releases;  // the first ones
  bool by_all = false;   // fenced, and known to all threads
  std::bitset<kMaxThreadsPerBlock> known = {}, fenced = {};

  bool counts_for(unsigned thread) const { return by_all || fenced[thread]; }

  // By a flag within the block.
  void pass_to(unsigned thread) {
    known.set(thread);
    if (fenced.any()) fenced.set(thread);
  }

  // Some lanes of a warp meet: what one of them has, all of them have now.
  void meet(unsigned warp, std::uint32_t lanes) {
    for (auto* bits : {&known, &fenced}) {
      bool any = false;
      for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1)
        any |= (*bits)[warp * kWarpSize + static_cast<unsigned>(std::countr_zero(rest))];
      for (std::uint32_t rest = any ? lanes : 0; rest != 0; rest &= rest - 1)
        bits->set(warp * kWarpSize + static_cast<unsigned>(std::countr_zero(rest)));
    }
  }

  void pass_barrier() {
    by_all |= fenced.any();
    known.set();
  }
};

// The accesses of a warp's lanes that lane i knows to lie before a fence that it knows of.
struct WarpFences {
  bool any = false;
  std::uint32_t before[kWarpSize] = {};            // accesses of the whole block, in earlier intervals
  std::uint16_t until[kWarpSize][kWarpSize] = {};  // [i][j]: those of lane j, up to its time then

  void add(unsigned lane, std::uint32_t epoch_first, const WarpClock& clock) {
    any = true;
    before[lane] = std::max(epoch_first, clock.began);
    std::memcpy(until[lane], clock.seen[lane], sizeof until[lane]);
    until[lane][lane] = clock.time[lane];
  }

  // The warp's times begin anew in this interval: what was done until then is taken for fenced, where anything is.
  void begin_anew(std::uint32_t interval) {
    for (std::uint32_t& first : before)
      if (first != 0) first = interval;
    std::memset(until, 0, sizeof until);
  }

  void meet(std::uint32_t lanes) {
    std::uint32_t most = 0;
    std::uint16_t joined[kWarpSize] = {};
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      most = std::max(most, before[i]);
      for (unsigned j = 0; j < kWarpSize; ++j) joined[j] = std::max(joined[j], until[i][j]);
    }
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      before[i] = most;
      std::memcpy(until[i], joined, sizeof joined);
    }
  }
};

// Fences of the running block that order what other blocks see.
struct BlockFences {
  bool any = false;
  std::uint32_t before = 0;  // as in WarpFences, of those before the last barrier
  std::uint16_t until[kMaxThreadsPerBlock] = {};
  WarpFences warps[kMaxWarps];  // of those since

  void reset() {
    if (any) *this = {};
  }

  // As in WarpFences.
  void begin_anew(unsigned warp, std::uint32_t interval) {
    if (!any) return;
    warps[warp].begin_anew(interval);
    std::uint16_t* const of_warp = until + warp * kWarpSize;
    if (std::all_of(of_warp, of_warp + kWarpSize, [](std::uint16_t time) { return time == 0; })) return;
    before = interval;
    std::memset(of_warp, 0, kWarpSize * sizeof *until);
  }

  void pass_barrier() {
    for (unsigned w = 0; any && w < kMaxWarps; ++w) {
      if (!warps[w].any) continue;
      warps[w].meet(~0u);
      before = std::max(before, warps[w].before[0]);
      for (unsigned j = 0; j < kWarpSize; ++j)
        until[w * kWarpSize + j] = std::max(until[w * kWarpSize + j], warps[w].until[0][j]);
      warps[w] = {};
    }
  }
};

struct State {
  Shadow shadow;
  WarpClock clocks[kMaxWarps];
  std::uint32_t interval = 0, block_first = 1, launch_first = 1;
  std::uint32_t unordered_first = 1;     // of the launches that need not come before this one; launch_first: all do
  std::vector<const order::Used*> uses;  // of memory, by copies and the like that need not
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

State& make_state() {
  static State* s = for_ever<State>();
  return *s;
}

[[gnu::always_inline]] inline State& state() {
  static constinit State* s = nullptr;
  if (s == nullptr) [[unlikely]]
    s = &make_state();
  return *s;
}

void forget(std::vector<KnownPlace*>& places) {
  inline_cache::empty(inline_cache::Until::places_are_forgotten);
  inline_cache::empty(inline_cache::Until::threads_poll);
  for (KnownPlace* place : places) *place = {};
  places.clear();
}

const char* verb(Access kind) {
  switch (kind) {
    case Access::load:
      return "reads";
    case Access::store:
      return "writes";
    case Access::copy_from:
      return "copies";
    case Access::copy_to:
      return "copies to";
    default:
      return "updates";
  }
}

// ---------------------------------------------------------------------------------------------- words for messages
std::string triple(unsigned x, unsigned y, unsigned z) { return fmt::format("({},{},{})", x, y, z); }

std::string thread_triple(unsigned thread) {
  const dim3 b = running_launch().config.block;
  return triple(thread % b.x, thread / b.x % b.y, thread / b.x / b.y);
}

std::string block_triple(const State& s, std::uint32_t interval) {
  uint3 block = running_launch().block;
  auto after = std::upper_bound(s.blocks.begin(), s.blocks.end(), interval,
                                [](std::uint32_t i, const auto& e) { return i < e.first; });
  if (after != s.blocks.begin()) block = std::prev(after)->second;
  return triple(block.x, block.y, block.z);
}

std::string grouped(std::int64_t n) {
  return n < 0 ? "-" + grouped_digits(static_cast<std::uint64_t>(-n)) : grouped_digits(static_cast<std::uint64_t>(n));
}

constexpr std::uint64_t kFar = std::uint64_t{1} << 20;  // bytes

// What lies at an address: "s[5]", "element 5 of the 16-element (4-byte) device allocation made at a.cu:3"; and for an
// address outside, in which way: ", past its end".
struct Place {
  std::string name;
  std::string outside;
};

// "element 5" of elements as wide as the access, or "byte 3" between two of them.
std::string element(std::int64_t offset, std::size_t bytes) {
  const auto width = static_cast<std::int64_t>(bytes);
  return offset % width == 0 ? "element " + grouped(offset / width) : "byte " + grouped(offset);
}

std::string outside(std::int64_t offset, std::size_t bytes, std::size_t size) {
  if (offset < 0) return ", before its start";
  return static_cast<std::size_t>(offset) + bytes > size ? ", past its end" : "";
}

const SharedPiece* nearest_piece(const State& s, std::uintptr_t address) {
  const SharedPiece* best = nullptr;
  for (const SharedPiece& p : s.pieces) {
    if (address >= p.begin && address < p.end) return &p;
    const auto distance = [&](const SharedPiece& q) { return address < q.begin ? q.begin - address : address - q.end; };
    if (!best || distance(p) < distance(*best)) best = &p;
  }
  return best;
}

// "As[3][40]"; empty when the offset is none of an element.
std::string indexed(const char* name, const ArrayShape& shape, std::int64_t offset, std::size_t bytes) {
  const auto width = static_cast<std::int64_t>(shape.element_bytes);
  if (width == 0 || offset % width != 0) return "";
  std::int64_t index = offset / width;
  if (shape.rank == 0) return index == 0 ? name : "";
  std::string text = name;
  for (unsigned d = 0; d < shape.rank; ++d) {
    std::int64_t inner = 1;  // elements under one step of this index
    for (unsigned e = d + 1; e < shape.rank; ++e) inner *= static_cast<std::int64_t>(shape.extents[e]);
    std::int64_t here = index / inner;
    if (d == 0 && index % inner < 0) --here;
    index -= here * inner;
    text += "[" + grouped(here);
    if (d + 1 == shape.rank && bytes > shape.element_bytes)
      text += ".." + grouped(here + static_cast<std::int64_t>(bytes / shape.element_bytes) - 1);
    text += "]";
  }
  return text;
}

std::string extents(const ArrayShape& shape) {
  std::string text;
  for (unsigned d = 0; d < shape.rank; ++d) text += (d == 0 ? "" : " x ") + grouped_digits(shape.extents[d]);
  return text + (shape.rank == 1 ? " elements" : "");
}

Place shared_place(const State& s, std::uintptr_t address, std::size_t bytes) {
  const SharedPiece* p = nearest_piece(s, address);
  if (!p) {
    if (address >= reinterpret_cast<std::uintptr_t>(shared_begin) + kSharedRegion)
      return {"dynamic shared memory", ", but the launch asked for none: its third argument in <<<...>>> is 0"};
    return {"shared memory", ", but the block has none here"};
  }
  const auto offset = static_cast<std::int64_t>(address - p->begin);
  const std::size_t size = p->end - p->begin;
  std::string where = outside(offset, bytes, size);
  if (!p->variable) {
    if (!where.empty()) where += fmt::format(": the launch asked for {} bytes", grouped_digits(size));
    return {element(offset, bytes) + fmt::format(" of the dynamic shared memory ({}-byte elements)", bytes), where};
  }
  const SharedVariable& v = *p->variable;
  if (!where.empty() && v.shape.rank != 0) where += fmt::format(": {} has {}", v.name, extents(v.shape));
  std::string name = indexed(v.name, v.shape, offset, bytes);
  if (name.empty()) name = element(offset, bytes) + fmt::format(" of {} ({}-byte elements)", v.name, bytes);
  return {name, where};
}

// `meant`: what the access was in when it was last in order; nullptr where that isn't known.
Place global_place(std::uintptr_t address, std::size_t bytes, const memory::Allocation* meant = nullptr) {
  const memory::Allocation* a = memory::find(address);
  if (!a) a = meant;
  if (!a) {
    a = memory::nearest(address);
    if (!a) return {fmt::format("address 0x{:x}", address), ", where no memory is"};
    // So far from all, the nearest array need not be the one that was meant.
    if (const std::uint64_t far = address < a->begin ? a->begin - address : address - a->end(); far > kFar)
      return {"memory where no array is",
              ": the nearest is " + memory::describe(address) + ", so the index is far off"};
  }
  const auto offset = static_cast<std::int64_t>(address - a->begin);
  const std::string where = outside(offset, bytes, a->bytes);
  if (a->kind == memory::Kind::variable) {
    static constexpr const char* spaces[] = {"__device__", "__constant__", "__managed__"};
    std::string name = fmt::format("the {} variable {}", spaces[static_cast<int>(a->space)], a->name ? a->name : "");
    if (offset == 0 && bytes == a->bytes) return {name, where};
    return {element(offset, bytes) +
                fmt::format(" of {} ({} elements of {} bytes)", name, grouped_digits(a->bytes / bytes), bytes),
            where};
  }
  if (a->name && a->live && offset % static_cast<std::int64_t>(bytes) == 0) {
    const std::int64_t index = offset / static_cast<std::int64_t>(bytes);
    if (where.empty()) return {fmt::format("{}[{}]", a->name, index), where};
    return {fmt::format("{}[{}]", a->name, index),
            where + fmt::format(": {} has {} element{} of {} bytes", a->name, grouped_digits(a->bytes / bytes),
                                a->bytes / bytes == 1 ? "" : "s", bytes)};
  }
  static constexpr const char* kinds[] = {"device", "managed", "pinned host", "registered host"};
  std::string size = a->bytes % bytes == 0 && offset % static_cast<std::int64_t>(bytes) == 0
                         ? fmt::format("{}-element ({}-byte)", grouped_digits(a->bytes / bytes), bytes)
                         : fmt::format("{}-byte", grouped_digits(a->bytes));
  std::string name = element(offset, bytes) + fmt::format(" of the {} {} allocation{}", size,
                                                          a->heap ? "device heap" : kinds[static_cast<int>(a->kind)],
                                                          memory::on_which_device(*a));
  if (a->name)
    name += std::string(" ") + a->name;
  else if (a->call_site)
    name += " made" + memory::at_or_by(a->call_site);
  if (!a->live) {
    name += a->freed_by_reset ? ", freed by cudaDeviceReset" : ", freed";
    if (a->free_site) name += " at " + describe_site(a->free_site);
  }
  return {name, where};
}

Place place(const State& s, MemorySpace space, std::uintptr_t address, std::size_t bytes) {
  return space == MemorySpace::shared ? shared_place(s, address, bytes) : global_place(address, bytes);
}

// ---------------------------------------------------------------------------------------------- races
struct Now {
  State& s;
  Lane& lane;
  MemorySpace space;
  std::uintptr_t address;  // of the access
  std::size_t bytes;
  Access kind;
  const void* site;
  std::uint16_t thread, time, site_number;
  unsigned lane_id;
  const WarpClock& clock;
  bool is_volatile;
  bool is_number = false;      // of all its bytes; else it may be a struct with padding
  std::uintptr_t to_copy = 0;  // the distance to where the access is remembered: memory::distance_to_copy()
};

[[gnu::always_inline]] inline Now access_now(State& s, Lane& lane, MemorySpace space, std::uintptr_t address,
                                             std::size_t bytes, Access kind, const void* site) {
  const unsigned l = lane.linear % kWarpSize;
  const WarpClock& clock = s.clocks[lane.linear / kWarpSize];
  return {s,
          lane,
          space,
          address,
          bytes,
          kind,
          site,
          static_cast<std::uint16_t>(lane.linear),
          clock.time[l],
          s.number(site),
          l,
          clock,
          lane.volatile_access};
}

// A thread of the same block touched the word since the last barrier. Is that ordered before the access now?
bool ordered_in_warp(const Now& now, unsigned thread, std::uint32_t interval, std::uint16_t time) {
  return thread / kWarpSize == now.thread / kWarpSize &&
         now.clock.knows(now.lane_id, thread % kWarpSize, interval, time);
}

// ---------------------------------------------------------------------------------------------- between blocks
std::uint32_t first_interval_of_block(const State& s, std::uint32_t interval) {
  const auto after = std::upper_bound(s.blocks.begin(), s.blocks.end(), interval,
                                      [](std::uint32_t i, const auto& e) { return i < e.first; });
  return after == s.blocks.begin() ? 0 : std::prev(after)->first;
}

// What a block told at this word; null if nothing.
const Release* release_of(const TakenOver& taken, std::uint32_t block_first) {
  const auto begin = taken.from->releases.begin(), end = begin + static_cast<std::ptrdiff_t>(taken.releases);
  const auto found = std::lower_bound(begin, end, block_first,
                                      [](const Release& r, std::uint32_t first) { return r.block_first < first; });
  return found != end && found->block_first == block_first ? &*found : nullptr;
}

// An access of an earlier block, one that `covered` knows whether a Release tells of it: does it come before the access now?
// A volatile load needs no fence before it: it asks no cache that another block's store does not reach.
template <class Covered>
[[gnu::noinline]] bool comes_after_block(const Now& now, std::uint32_t interval, Covered covered) {
  const std::uint32_t block_first = first_interval_of_block(now.s, interval);
  for (const TakenOver& taken : now.s.taken_over) {
    if (!taken.counts_for(now.thread) && !(now.is_volatile && only_reads(now.kind) && taken.known[now.thread]))
      continue;
    if (interval <= taken.from->releases[taken.releases - 1].other_blocks) return true;
    if (const Release* release = release_of(taken, block_first); release && covered(*release)) return true;
  }
  return false;
}

bool comes_after_write(const Now& now, const LastWrite& write) {
  return comes_after_block(now, write.interval, [&](const Release& release) {
    return release.covers(write.interval, write.thread, write.time);
  });
}

bool comes_after_reads(const Now& now, const LastRead& read) {
  return comes_after_block(now, read.interval, [&](const Release& release) {
    for (std::uint32_t rest = read.many_warps ? 0 : read.lanes; rest != 0; rest &= rest - 1)
      if (!release.covers(read.interval, read.thread / kWarpSize * kWarpSize + unsigned(std::countr_zero(rest)),
                          read.time))
        return false;
    return true;  // readers of several warps are not remembered one by one
  });
}

bool comes_after_older_read(const Now& now, std::uint32_t interval) {
  return comes_after_block(now, interval, [](const Release&) { return true; });
}

// What is missing between an access of an earlier block and the one now, where something of the kind is there.
const char* missing_between_blocks(const Now& now, std::uint32_t interval) {
  const std::uint32_t block_first = first_interval_of_block(now.s, interval);
  for (const TakenOver& taken : now.s.taken_over) {
    if (!release_of(taken, block_first)) continue;
    if (!taken.counts_for(now.thread))
      return "; an atomic or a volatile load tells that the other block has come so far, but no __threadfence() stands "
             "between that and this";
    return "; the other block has no __threadfence() between that and the atomic or volatile store that tells of it: a "
           "fence orders what its own thread did before it, and what a barrier put before it";
  }
  return now.s.fenced_within_block ? "; __threadfence_block() orders nothing for other blocks: __threadfence() does"
                                   : nullptr;
}

constexpr int kBetweenBlocks = 10;
constexpr const char* kUpdate =
    "; no barrier helps where several threads update one element: atomicAdd() or another atomic, or a reduction";

// The same as advice() of two blocks, which no barrier orders.
std::pair<std::string, int> advice_between_blocks(const Now& now, const Other& other, bool same_line) {
  const bool both_store = now.kind == Access::store && other.kind == Access::store;
  if (const char* missing = missing_between_blocks(now, other.interval)) return {missing, 4};
  if (both_store && same_line && other.updates) return {kUpdate, 3};
  if (both_store) return {"; blocks run in any order, so which value stays is up to chance: let one of them write", 2};
  if (running_launch().config.cooperative) return {"; blocks run in any order: put a sync() of the grid between", 1};
  return {
      "; blocks run in any order, and no barrier is between them: separate arrays or a second launch, or a flag set "
      "by an atomic after __threadfence()",
      1};
}

// What orders the two accesses, or that nothing does; and how much it says compared with other findings of these lines.
std::pair<std::string, int> advice(const Now& now, const Other& other, bool same_line, bool same_warp,
                                   bool other_block) {
  const bool both_store = now.kind == Access::store && other.kind == Access::store;
  if (other_block) {  // first of all: what helps between blocks, helps within a block, too, but not the other way round
    auto [cure, weight] = advice_between_blocks(now, other, same_line);
    return {cure, weight + kBetweenBlocks};
  }
  if (other.waited_for)
    return {
        fmt::format("; a thread waits for its own copies only, and no {} stands between its __pipeline_wait_prior() "
                    "and this",
                    same_warp ? "__syncwarp()" : "__syncthreads()"),
        1};
  if (both_store && same_line && other.updates) return {kUpdate, 3};
  const char* barrier = same_warp ? "__syncwarp()" : "__syncthreads()";
  if (same_line && both_store)
    return {"; which value stays is up to chance: let one thread write, or each an element of its own", 2};
  if (same_line)
    return {fmt::format("; divide it: read into a variable, {}, then write; in a loop {} after that, too", barrier,
                        barrier),
            1};
  if (same_warp) return {"; lanes of a warp need not run in step: put a __syncwarp() between", 0};
  return {"; no __syncthreads() stands between", 0};
}

std::string race_message(const Now& now, const Other& other, const void* other_site) {
  const State& s = now.s;
  const std::string here = describe_site(now.site), there = describe_site(other_site);
  std::string who =
      other.thread < 0 ? std::string("another thread") : "thread " + thread_triple(static_cast<unsigned>(other.thread));
  if (other.interval < s.block_first)
    who = (other.thread < 0 ? std::string("a thread") : who) + " of block " + block_triple(s, other.interval);
  return fmt::format("this thread {} {}, which {} {} {}", verb(now.kind),
                     place(s, now.space, now.address, now.bytes).name, who, verb(other.kind),
                     here == there ? "in the same line" : "at " + there);
}

Finding race_finding(const char* code, const Now& now, const Other& other) {
  const void* const other_site = now.s.sites[other.site];
  const bool other_block = other.interval < now.s.block_first;
  const bool same_line = describe_site(now.site) == describe_site(other_site);
  Finding f = finding_of(code, race_message(now, other, other_site), now.lane, now.site);
  std::tie(f.advice, f.weight) = advice(now, other, same_line, std::strcmp(code, "warp-synchronous") == 0, other_block);
  f.between_blocks = other_block;
  f.other_site = other_site;
  return f;
}

// Of stores that are known to race by their places only the count matters, unless this one says more.
void report_race_of(const char* code, const Now& now, const Other& other) {
  const bool other_block = other.interval < now.s.block_first;
  const Finding* known = known_finding(code, now.site, now.s.sites[other.site]);
  const bool says_more = known != nullptr && other_block && !known->between_blocks;
  if (known != nullptr && !says_more)
    report_again(code, now.site, now.s.sites[other.site]);
  else
    report_finding(race_finding(code, now, other));
}

const char* race_code(const Now& now, const Other& other) {
  const bool same_warp = other.interval >= now.s.block_first && other.thread >= 0 &&
                         static_cast<unsigned>(other.thread) / kWarpSize == now.thread / kWarpSize;
  return same_warp ? "warp-synchronous" : now.space == MemorySpace::shared ? "race-shared" : "race-global";
}

void settle_doubt(State& s) {
  DoubtfulStore& d = s.doubt;
  if (std::memcmp(d.address, d.before, d.bytes) != 0) {
    const auto address = reinterpret_cast<std::uintptr_t>(d.address);
    const Now store = access_now(s, *d.lane, d.space, address, d.bytes, Access::store, d.site);
    report_race_of(race_code(store, d.other), store, d.other);
  }
  d.address = nullptr;
}

void report_race(const Now& now, const Other& other) {
  State& s = now.s;
  const bool other_block = other.interval < s.block_first;
  const bool same_warp =
      !other_block && other.thread >= 0 && static_cast<unsigned>(other.thread) / kWarpSize == now.thread / kWarpSize;
  // Volatile accesses and atomics of different threads are a conversation, through a flag or a lock: once a fence was
  // executed, or between blocks.
  const auto speaks = [](Access kind, bool is_volatile) {
    return is_volatile || kind == Access::atomic || kind == Access::reduction;
  };
  const bool both_volatile = now.is_volatile && other.is_volatile;
  if (speaks(now.kind, now.is_volatile) && speaks(other.kind, other.is_volatile) && (other_block || s.fenced) &&
      !(both_volatile && same_warp))
    return;

  const bool both_store = now.kind == Access::store && other.kind == Access::store;
  if (!both_store || now.bytes > sizeof s.doubt.before) return report_race_of(race_code(now, other), now, other);
  if (s.doubt.address) return;
  s.doubt = {reinterpret_cast<const void*>(now.address), now.bytes, {}, &now.lane, now.space, now.site, other};
  std::memcpy(s.doubt.before, s.doubt.address, now.bytes);
}

// An access that meets an asynchronous copy in flight. Returns false where there is none, or none that minds.
[[gnu::noinline]] bool report_in_flight(const Now& now, LastWrite& write) {
  const bool writes = !only_reads(now.kind);
  const AsyncCopy* copy = nullptr;
  if (write.copied_to) {
    copy = async::writing(reinterpret_cast<const void*>(now.address), now.bytes);
    write.copied_to = copy != nullptr;
  }
  const bool is_target = copy != nullptr;
  // Nothing stands between the beginning of the copy and this access: a race like any other.
  if (is_target && write.thread != now.thread && write.interval >= now.s.epoch_first &&
      !ordered_in_warp(now, write.thread, write.interval, write.time))
    return false;
  if (write.copied_from && writes && !is_target) {
    copy = async::reading(reinterpret_cast<const void*>(now.address), now.bytes);
    write.copied_from = copy != nullptr;
  }
  if (!copy) return false;
  const bool own = copy->thread == now.lane.linear;
  const std::string whose = own ? "its own copy" : "the copy of thread " + thread_triple(copy->thread);
  const std::string what = place(now.s, now.space, now.address, now.bytes).name;
  std::string message = fmt::format("this thread {} {}, which {} at {} may {}: {}", verb(now.kind), what, whose,
                                    describe_site(copy->site),
                                    !is_target ? "still read"
                                    : writes   ? "write later"
                                               : "not have written yet",
                                    async::what_is_missing(*copy));
  Finding f = finding_of("async-in-flight", std::move(message), now.lane, now.site);
  f.other_site = copy->site;
  report_finding(std::move(f));
  return true;
}

[[gnu::always_inline]] inline void note_write(const State& s, LastWrite& write, std::uint16_t thread,
                                              const WarpClock& clock, std::uint16_t site, bool is_atomic,
                                              bool is_volatile) {
  write.interval = s.interval;
  write.thread = thread;
  write.time = clock.time[thread % kWarpSize];
  write.site = site;
  write.is_atomic = is_atomic;
  write.is_volatile = is_volatile;
}

[[gnu::always_inline]] inline void note_read(const State& s, const Cell& c, std::uint16_t thread,
                                             const WarpClock& clock, std::uint16_t site, bool is_volatile) {
  LastRead& read = *c.read;
  const unsigned lane = thread % kWarpSize;
  const std::uint32_t mine = 1u << lane;
  const std::uint16_t time = clock.time[lane];
  if (read.interval != s.interval) {
    const bool older = read.interval >= s.unordered_first && read.interval < s.block_first;
    if (older) *c.older_read = read.interval;
    read = {s.interval,
            mine,
            time,
            site,
            older ? read.site : read.older_site,
            static_cast<std::uint16_t>(thread & (kMaxThreadsPerBlock - 1)),
            false,
            is_volatile,
            older ? read.is_volatile : read.older_is_volatile};
    return;
  }
  std::uint32_t others = 0;  // lanes whose reads are remembered
  if (read.thread / kWarpSize == thread / kWarpSize) {
    // Readers that are ordered before this one need not be remembered: who comes after it comes after them.
    bool all_before = true;
    for (std::uint32_t rest = read.lanes; rest != 0 && all_before; rest &= rest - 1)
      all_before = clock.seen[lane][std::countr_zero(rest)] >= read.time;
    if (!all_before) others = read.lanes & ~mine;
    read.lanes = (all_before ? 0 : read.lanes) | mine;
  } else {
    read.many_warps = true;
  }
  if (!is_volatile) read.is_volatile = false;
  read.time = time;
  // `s[i] += x` reads as well: where another thread has read says more about a race.
  if (others == 0) read.site = site;
}

// ---------------------------------------------------------------------------------------------- between launches
// The access meets one of a launch that need not come before this one.
void report_streams(const Now& now, std::uint32_t interval, Access kind, std::uint16_t site, const char* does) {
  const order::Launched* launch = order::unordered_launch(interval);
  if (launch == nullptr || launch->serial == running_launch().serial) return;  // this one, before its grid met
  const void* const other_site = now.s.sites[site];
  if (report_again("race-streams", now.site, other_site)) return;
  const std::string here = describe_site(now.site), there = describe_site(other_site);
  Finding f = finding_of(
      "race-streams",
      fmt::format("this thread {} {}, which another launch {} {}: nothing says which comes first{}", verb(now.kind),
                  place(now.s, now.space, now.address, now.bytes).name, does ? does : verb(kind),
                  here == there ? "in the same line" : "at " + there, order::advice(launch->work)),
      now.lane, now.site);
  f.other_site = other_site;
  report_finding(std::move(f));
}

// Where the cell was used by launches that may be unordered with this one. Atomics of both are in order enough.
[[gnu::noinline]] void check_other_launches(const Now& now, const Cell& c) {
  const State& s = now.s;
  const LastWrite& write = *c.write;
  const LastRead& read = *c.read;
  const auto earlier = [&](std::uint32_t interval) {
    return interval >= s.unordered_first && interval < s.launch_first;
  };
  const bool writes = !only_reads(now.kind);
  const bool is_atomic = now.kind == Access::atomic || now.kind == Access::reduction;
  const auto both_speak = [&](bool atomic, bool is_volatile) {
    return (atomic || is_volatile) && (is_atomic || now.is_volatile);
  };
  if (earlier(write.interval) && !both_speak(write.is_atomic, write.is_volatile))
    report_streams(now, write.interval, write.is_atomic ? Access::atomic : Access::store, write.site, nullptr);
  if (!writes) return;
  if (earlier(read.interval) && !both_speak(false, read.is_volatile))
    report_streams(now, read.interval, Access::load, read.site, nullptr);
  if (earlier(*c.older_read) && !both_speak(false, read.older_is_volatile))
    report_streams(now, *c.older_read, Access::load, read.older_site, nullptr);
}

// Copies and the like that need not come before this launch, and use the same bytes. What is left of `inside` around the access
// is used by none of them.
[[gnu::noinline]] void check_other_work(const Now& now, memory::Range& inside) {
  const order::Bytes mine{now.address + now.to_copy, now.bytes};
  std::uintptr_t begin = inside.begin, end = inside.begin + inside.bytes;
  for (const order::Used* used : now.s.uses) {
    if (used->bytes.end() <= mine.begin) {
      begin = std::max(begin, used->bytes.end());
      continue;
    }
    if (used->bytes.begin >= mine.end()) {
      end = std::min(end, used->bytes.begin);
      continue;
    }
    begin = now.address, end = begin;  // look at each access
    const bool conflicts = used->use != order::Use::reads || !only_reads(now.kind);
    if (!conflicts || order::shared(mine, used->bytes).bytes == 0) continue;
    if (report_again("race-streams", now.site, used->site)) continue;
    static constexpr const char* does[] = {"reads", "writes", "allocates", "frees"};
    Finding f = finding_of("race-streams",
                           fmt::format("this thread {} {}, which {}{} {}: nothing says which comes first{}",
                                       verb(now.kind), place(now.s, now.space, now.address, now.bytes).name, used->name,
                                       used->site == nullptr ? "" : " at " + describe_site(used->site),
                                       does[static_cast<int>(used->use)], order::advice(used->work)),
                           now.lane, now.site);
    f.other_site = used->site;
    report_finding(std::move(f));
  }
  inside = {begin, end - begin};
}

// Inlined into each of its callers, since nearly all time of a check goes into it.
[[gnu::always_inline]] inline void check_cell(const Now& now, Cell c) {
  State& s = now.s;
  LastWrite& write = *c.write;
  const LastRead& read = *c.read;
  const bool is_atomic = now.kind == Access::atomic || now.kind == Access::reduction;
  const bool writes = !only_reads(now.kind);
  const bool plain_write = now.kind == Access::store || now.kind == Access::copy_to;
  const bool in_flight = (write.copied_to || write.copied_from) && report_in_flight(now, write);
  if (s.unordered_first != s.launch_first && now.space != MemorySpace::shared) check_other_launches(now, c);

  // Against the last write. An atomic conflicts with plain writes only: a plain read beside it gets the old value or the
  // new one, which programs that retry with atomicCAS rely on.
  if (write.interval >= s.launch_first && !(write.is_atomic && !plain_write) && !in_flight) {
    const bool same_block = write.interval >= s.block_first;
    if (same_block ? write.interval >= s.epoch_first && write.thread != now.thread &&
                         write.interval > s.acquired[now.thread] &&
                         !ordered_in_warp(now, write.thread, write.interval, write.time)
                   : now.space != MemorySpace::shared && !comes_after_write(now, write)) {
      const bool has_read =
          read.interval >= s.epoch_first && (read.many_warps || (read.thread / kWarpSize == now.thread / kWarpSize &&
                                                                 (read.lanes >> now.lane_id & 1u) != 0));
      const bool copied = now.space == MemorySpace::shared && s.copies[write.site];
      const Access kind = write.is_atomic ? Access::atomic : copied ? Access::copy_to : Access::store;
      report_race(now, {write.interval, write.thread, kind, write.site, write.is_volatile, has_read,
                        copied && !write.copied_to});
    }
  }
  // A plain write also against the reads.
  if (plain_write && !in_flight) {
    if (read.interval >= s.epoch_first) {
      const bool same_warp = read.thread / kWarpSize == now.thread / kWarpSize;
      bool raced = read.many_warps || !same_warp;
      unsigned reader = read.thread;
      if (read.interval <= s.acquired[now.thread]) {
        raced = false;
      } else if (same_warp && !read.many_warps) {
        for (std::uint32_t rest = read.lanes & ~(1u << now.lane_id); rest != 0 && !raced; rest &= rest - 1) {
          reader = read.thread / kWarpSize * kWarpSize + static_cast<unsigned>(std::countr_zero(rest));
          raced = !now.clock.knows(now.lane_id, reader % kWarpSize, read.interval, read.time);
        }
      }
      if (raced)
        report_race(now, {read.interval, reader == now.thread ? -1 : static_cast<int>(reader), Access::load, read.site,
                          read.is_volatile});
    } else if (now.space != MemorySpace::shared && read.interval >= s.launch_first && read.interval < s.block_first &&
               !comes_after_reads(now, read)) {
      report_race(now, {read.interval, read.thread, Access::load, read.site, read.is_volatile});
    } else if (now.space != MemorySpace::shared && *c.older_read >= s.launch_first &&
               !comes_after_older_read(now, *c.older_read)) {
      report_race(now, {*c.older_read, -1, Access::load, read.older_site, read.older_is_volatile});
    }
  }

  if (writes)
    note_write(s, write, now.thread, now.clock, now.site_number, is_atomic, now.is_volatile);
  else
    note_read(s, c, now.thread, now.clock, now.site_number, now.is_volatile);
}

// Whether it is plain that the last write comes before this access, and for shared memory that there has been one.
[[gnu::always_inline]] inline bool write_comes_before(const State& s, const LastWrite& write, unsigned thread,
                                                      bool shared, bool load) {
  if (write.interval >= s.block_first) return write.interval < s.epoch_first || write.thread == thread;
  return shared ? !load : write.interval < s.unordered_first;
}

// And that all reads come before this write.
[[gnu::always_inline]] inline bool reads_come_before(const State& s, const Cell& c, unsigned thread, bool shared) {
  const LastRead& read = *c.read;
  if (read.interval >= s.epoch_first)
    return !read.many_warps && read.thread / kWarpSize == thread / kWarpSize &&
           (read.lanes & ~(1u << thread % kWarpSize)) == 0;
  if (shared) return true;
  return (read.interval < s.unordered_first || read.interval >= s.block_first) && *c.older_read < s.unordered_first;
}

// Words of an access that nobody has written. A struct copied whole has padding, which nobody writes: one unwritten
// word among four is taken for that.
bool too_few_written(unsigned unwritten_words, std::size_t bytes) { return unwritten_words > (bytes >= 16 ? 1u : 0u); }

[[gnu::always_inline]] inline void check_race(const Now& now) {
  State& s = now.s;
  std::uintptr_t at = now.address;
  const std::uintptr_t end = at + now.bytes;
  unsigned unwritten_words = 0;
  while (at < end) {
    const Cell c = s.shadow.words.at(at + now.to_copy);
    const bool whole = (at & 3) == 0 && end - at >= 4;
    if (whole && !c.write->split) {
      unwritten_words += c.write->interval < s.shared_first;
      check_cell(now, c);
      at += 4;
      continue;
    }
    if (!c.write->split) {
      const std::uintptr_t word = at & ~std::uintptr_t{3};
      for (unsigned k = 0; k < 4; ++k) s.shadow.bytes.at(word + now.to_copy + k).take(c);
      c.write->split = true;
    }
    const std::uintptr_t word_end = std::min(end, (at | 3) + 1);
    bool any = false, all = true;
    for (; at < word_end; ++at) {
      const Cell byte = s.shadow.bytes.at(at + now.to_copy);
      const bool written = byte.write->interval >= s.shared_first;
      any |= written, all &= written;
      check_cell(now, byte);
    }
    unwritten_words += !(now.is_number ? all : any);
  }
  if (unwritten_words != 0 && now.space == MemorySpace::shared && now.kind != Access::store &&
      now.kind != Access::copy_to && too_few_written(unwritten_words, now.bytes) &&
      !report_again("uninitialised-shared", now.site))
    report_finding(finding_of("uninitialised-shared",
                              "this thread reads " + shared_place(s, now.address, now.bytes).name +
                                  ", which no thread of the block has written",
                              now.lane, now.site));
}

void check_global_written(const Now& now) {
  if (memory::is_written(now.address, now.bytes)) return;
  unsigned unwritten_words = 0;
  const std::uintptr_t end = now.address + now.bytes;
  for (std::uintptr_t at = now.address; at < end;) {
    const std::uintptr_t word_end = std::min(end, (at | 3) + 1);
    const bool all = memory::is_written(at, word_end - at);
    bool any = all;
    for (; at < word_end; ++at) any |= memory::is_written(at, 1);
    unwritten_words += !(now.is_number ? all : any);
  }
  if (!too_few_written(unwritten_words, now.bytes) || report_again("uninitialised", now.site)) return;
  report_finding(finding_of(
      "uninitialised", "this thread reads " + global_place(now.address, now.bytes).name + ", which nothing has written",
      now.lane, now.site));
}

// ---------------------------------------------------------------------------------------------- handing over
// A thread that reads a flag or lock (atomic or volatile) comes after what was fenced before the store to it; after what other
// blocks did, once it has a fence itself.
void take_over(State& s, unsigned thread, MemorySpace space, std::uintptr_t address) {
  const auto passed = s.handed_over.find(address);
  if (passed == s.handed_over.end()) return;
  const HandedOver& from = passed->second;
  if (from.interval >= s.block_first) {
    s.acquired[thread] = std::max(s.acquired[thread], from.interval);
    for (TakenOver& taken : s.taken_over) taken.pass_to(thread);
  }
  if (space != MemorySpace::global || from.releases.empty()) return;
  auto taken = std::find_if(s.taken_over.begin(), s.taken_over.end(),
                            [&](const TakenOver& t) { return t.from == &from && t.releases == from.releases.size(); });
  if (taken == s.taken_over.end()) taken = s.taken_over.insert(taken, {&from, from.releases.size()});
  taken->known.set(thread);
}

// What this thread's store tells other blocks.
Release release_by(const State& s, unsigned thread) {
  const WarpFences& warp = s.fences.warps[thread / kWarpSize];
  const unsigned lane = thread % kWarpSize;
  const dim3 b = running_launch().config.block;
  Release r{s.block_first, s.interval, std::max(s.fences.before, warp.before[lane]), 0, {}, 0};
  if (s.acquired[thread] >= s.block_first) r.through = s.acquired[thread];
  r.until.assign(s.fences.until, s.fences.until + b.x * b.y * b.z);
  for (unsigned j = 0; j < kWarpSize; ++j)
    if (const unsigned t = thread - lane + j; t < r.until.size())
      r.until[t] = std::max(r.until[t], warp.until[lane][j]);
  for (const TakenOver& taken : s.taken_over)
    if (taken.counts_for(thread))
      r.other_blocks = std::max(r.other_blocks, taken.from->releases[taken.releases - 1].at);
  return r;
}

// A later release of the same block at the same word.
void join(Release& r, const Release& later) {
  r.at = later.at;
  r.before = std::max(r.before, later.before);
  r.through = std::max(r.through, later.through);
  r.other_blocks = std::max(r.other_blocks, later.other_blocks);
  for (std::size_t t = 0; t < r.until.size(); ++t) r.until[t] = std::max(r.until[t], later.until[t]);
}

// The store passes on, within the block, everything up to now: what follows counts as later. And to other blocks what a fence
// of theirs stands behind.
void hand_over(State& s, unsigned thread, MemorySpace space, std::uintptr_t address) {
  if (!s.fenced) return;
  HandedOver& to = s.handed_over[address];
  to.interval = s.interval++;
  if (space != MemorySpace::global || !s.fences.any) return;
  Release release = release_by(s, thread);
  if (!to.releases.empty() && to.releases.back().block_first == s.block_first) return join(to.releases.back(), release);
  if (!to.releases.empty()) release.other_blocks = std::max(release.other_blocks, to.releases.back().other_blocks);
  to.releases.push_back(std::move(release));
}

// ---------------------------------------------------------------------------------------------- bounds
constexpr std::uintptr_t kNullArea = 1 << 16;  // no program has memory there

// String literals and constant tables of the program's own, which exist on a GPU as well.
bool is_program_constant(std::uintptr_t address) {
  return any_loaded_piece(
      [=](const LoadedPiece& piece) { return piece.of_program && !piece.writable && piece.contains(address); });
}

bool is_on_device(const memory::Allocation& a) {
  return a.kind == memory::Kind::device || a.kind == memory::Kind::variable;
}

// A kernel uses memory of another device, which has not been opened to it.
[[noreturn, gnu::noinline]] void refuse_peer(const memory::Allocation& a, Lane& lane, std::uintptr_t address,
                                             std::size_t bytes, Access kind, const void* site) {
  const int here = running_launch().device;
  const std::string cure =
      a.pool != nullptr
          ? fmt::format("it comes from a memory pool, so cudaMemPoolSetAccess() gives device {} access", here)
          : fmt::format("call cudaDeviceEnablePeerAccess({}, 0) while device {} is the current one", a.device, here);
  report_finding(
      finding_of("peer-access",
                 fmt::format("this thread runs on device {} and {} {}, which is memory of device {}: {}, or bring "
                             "the data with cudaMemcpyPeer()",
                             here, verb(kind), global_place(address, bytes).name, a.device, cure),
                 lane, site));
  abort_launch(cudaErrorIllegalAddress, true);
}

// What the access lies inside; nothing when it must not be looked at further.
memory::Range check_bounds(State& s, Lane& lane, MemorySpace space, std::uintptr_t address, std::size_t bytes,
                           Access kind, const void* site) {
  if (space == MemorySpace::shared) {
    for (const SharedPiece& p : s.pieces)
      if (address >= p.begin && address + bytes <= p.end) return {p.begin, p.end - p.begin};
    if (s.indexed_wrongly == &lane) {  // reported already, by the index
      s.indexed_wrongly = nullptr;
      return {};
    }
    if (report_again("out-of-bounds-shared", site)) return {};
    const Place p = shared_place(s, address, bytes);
    report_finding(finding_of("out-of-bounds-shared",
                              std::string("this thread ") + verb(kind) + " " + p.name + p.outside, lane, site));
    return {};
  }
  if (space == MemorySpace::host) {
    if (kind == Access::load && is_program_constant(address)) return {};
    const bool null = address < kNullArea;
    std::string what = std::string("this thread ") + verb(kind);
    if (null && address < bytes)
      what += " through a null pointer";
    else if (null)
      what += " " + element(static_cast<std::int64_t>(address), bytes) + " of a null pointer";
    else
      what +=
          " host memory; a kernel needs memory from cudaMalloc, to which the data is copied with cudaMemcpy. If the "
          "pointer "
          "is one to device memory, then the index is far off: negative, or overflown";
    report_finding(finding_of(null ? "null-pointer" : "host-pointer", std::move(what), lane, site));
    abort_launch(cudaErrorIllegalAddress, true);
  }
  const memory::Allocation* a = memory::find(address);
  if (a && a->live && address + bytes <= a->end()) {
    if (!memory::may_access(running_launch().device, *a) && memory::in_device_arena(address) && is_on_device(*a))
      refuse_peer(*a, lane, address, bytes, kind, site);
    if (!is_on_device(*a) || a->space == Space::managed) ++launch_effects;
    return {a->begin, a->bytes};
  }
  if (a && !a->live) {
    if (report_again("use-after-free", site)) return {};
    const Place p = global_place(address, bytes);
    report_finding(finding_of("use-after-free", std::string("this thread ") + verb(kind) + " freed memory: " + p.name,
                              lane, site));
    return {};
  }
  if (!report_again("out-of-bounds", site)) {
    const Visited& before = s.visit(site);
    const bool known = before.site == site && before.space == MemorySpace::global;
    const Place p = global_place(address, bytes, known ? memory::find(before.inside.begin) : nullptr);
    report_finding(
        finding_of("out-of-bounds", std::string("this thread ") + verb(kind) + " " + p.name + p.outside, lane, site));
  }
  const memory::Allocation* near = memory::nearest(address);
  const bool in_red_zone = near && near->live && address + memory::kRedZone >= near->begin &&
                           address + bytes <= near->end() + memory::kRedZone;
  if (!in_red_zone) abort_launch(cudaErrorIllegalAddress, true);
  return {};
}

[[noreturn, gnu::noinline]] void refuse_misaligned(const State& s, Lane& lane, MemorySpace space,
                                                   std::uintptr_t address, std::size_t bytes, Access kind,
                                                   const void* site, std::size_t alignment) {
  const char* way = kind == Access::copy_to ? "to" : kind == Access::copy_from ? "from" : "at";
  report_finding(
      finding_of("misaligned",
                 fmt::format("this thread {} {} bytes at once {} an address that is not a multiple of {}: {}",
                             kind == Access::copy_to ? "copies" : verb(kind), bytes, way, alignment,
                             place(s, space, address, bytes).name),
                 lane, site));
  abort_launch(cudaErrorMisalignedAddress, true);
}

[[gnu::always_inline]] inline void check_alignment(const State& s, Lane& lane, MemorySpace space,
                                                   std::uintptr_t address, std::size_t bytes, Access kind,
                                                   const void* site, std::size_t alignment) {
  if ((address & (alignment - 1)) != 0) refuse_misaligned(s, lane, space, address, bytes, kind, site, alignment);
}

// ---------------------------------------------------------------------------------------------- faults
// What the checks did not see coming: a stack that is full, or uninstrumented code with a wrong pointer.
void fault(std::uintptr_t address, void* site) {
  Lane& lane = *current_lane;
  observed_lane = nullptr;
  const bool stack = on_thread_stack(reinterpret_cast<const void*>(address));
  // Sites are return addresses, which lie behind the instruction that they stand for.
  void* const after = site ? static_cast<char*>(site) + 1 : nullptr;
  report_finding(finding_of(
      stack ? "stack-overflow" : "illegal-address",
      stack ? fmt::format("this thread's stack is full in {}: its recursion is too deep or its local arrays are too "
                          "large; here a thread has {} KB for all of them",
                          after ? function_name(after) : "a function", kStackBytes >> 10)
            : fmt::format("this thread touches address 0x{:x}, where no memory is", address),
      lane, after));
  std::exit(1);
}

}  // namespace

void begin_launch(const Launch& launch) {
  State& s = state();
  s.launch_first = s.interval + 1;
  s.uses = order::unordered_uses();
  s.unordered_first = order::launches(s.launch_first, launch.serial);
  race_search::begin_launch(launch, observer::counting || shows_no_findings() || corners_only);
  memory::set_kernel_fault(fault);
  s.blocks.clear();
  s.handed_over.clear();
  s.fenced_within_block = s.fenced_in_launch = false;
}

std::uint32_t last_interval() { return state().interval; }

void end_block() {
  State& s = state();
  if (s.doubt.address) settle_doubt(s);
}

// The running block, in an interval of its own.
static void enter_block(State& s) {
  const Launch& launch = running_launch();
  s.block_first = s.epoch_first = ++s.interval;
  s.indexed_wrongly = nullptr;
  s.blocks.emplace_back(s.block_first, launch.block);
  s.fences.reset();
  s.taken_over.clear();
  const dim3 b = launch.config.block;
  const unsigned warps = (b.x * b.y * b.z + kWarpSize - 1) / kWarpSize;
  for (unsigned w = 0; w < warps; ++w) s.clocks[w].reset();
}

void begin_block() {
  State& s = state();
  const Launch& launch = running_launch();
  enter_block(s);
  s.shared_first = s.block_first;
  s.fenced = false;
  s.pieces.clear();
  forget(s.known_in_block);
  if (launch.config.shared != 0) {
    const auto begin = reinterpret_cast<std::uintptr_t>(shared_begin + kSharedRegion);
    s.pieces.push_back({begin, begin + launch.config.shared, nullptr});
  }
}

void suspend_block(observer::SuspendedBlock& block) {
  State& s = state();
  if (s.doubt.address) settle_doubt(s);
  block.pieces = s.pieces;
  block.first_interval = s.shared_first;
  block.fenced = s.fenced;
}

void resume_block(observer::SuspendedBlock& block) {
  State& s = state();
  enter_block(s);
  forget(s.known_in_block);
  s.pieces = std::move(block.pieces);
  s.shared_first = block.first_interval;
  s.fenced = block.fenced;
}

// From here on the launch is checked like a new one, but for what its blocks have in shared memory.
void grid_goes_on() {
  State& s = state();
  const bool alone = s.unordered_first == s.launch_first;
  s.launch_first = s.interval + 1;
  if (alone) s.unordered_first = s.launch_first;
  s.blocks.clear();
  s.taken_over.clear();
  s.handed_over.clear();
}

void block_barrier() {
  State& s = state();
  if (s.doubt.address) settle_doubt(s);
  s.epoch_first = ++s.interval;
  s.fences.pass_barrier();
  for (TakenOver& taken : s.taken_over) taken.pass_barrier();
}

// The warp's times are full.
[[gnu::noinline]] static void begin_times_anew(State& s, unsigned warp) {
  s.clocks[warp].begin_anew(++s.interval);
  s.fences.begin_anew(warp, s.interval);
}

void warp_meeting(unsigned warp, std::uint32_t arrived) {
  State& s = state();
  if (s.clocks[warp].meet(arrived)) [[unlikely]]
    begin_times_anew(s, warp);
  if (s.fences.warps[warp].any) s.fences.warps[warp].meet(arrived);
  for (TakenOver& taken : s.taken_over) taken.meet(warp, arrived);
  std::uint32_t* acquired = s.acquired + warp * kWarpSize;
  std::uint32_t most = 0;
  for (std::uint32_t rest = arrived; rest != 0; rest &= rest - 1)
    most = std::max(most, acquired[std::countr_zero(rest)]);
  if (most < s.epoch_first) return;
  for (std::uint32_t rest = arrived; rest != 0; rest &= rest - 1) acquired[std::countr_zero(rest)] = most;
}

void fence(const Lane& lane, bool within_block) {
  State& s = state();
  s.fenced = true;
  s.fenced_within_block |= within_block;
  if (!s.fenced_in_launch) {  // from here on atomic and volatile accesses may hand on, or take over
    s.fenced_in_launch = true;
    forget(s.known);
    forget(s.known_in_block);
  }
  if (within_block) return;
  const unsigned warp = lane.linear / kWarpSize, l = lane.linear % kWarpSize;
  WarpClock& clock = s.clocks[warp];
  s.fences.any = true;
  s.fences.warps[warp].add(l, s.epoch_first, clock);
  ++clock.time[l];  // what this lane does from now on is later than the fence
  if (clock.time[l] == WarpClock::kFull) begin_times_anew(s, warp);
  for (TakenOver& taken : s.taken_over)
    if (taken.known[lane.linear]) taken.fenced.set(lane.linear);
}

void forget_memory(std::uintptr_t begin, std::size_t bytes) {
  State& s = state();
  if (s.doubt.address) settle_doubt(s);
  s.shadow.words.give_back(begin, begin + bytes);
  s.shadow.bytes.give_back(begin, begin + bytes);
}

void forget_visits(std::uintptr_t begin) {
  State& s = state();
  for (Visited& v : s.visited)
    if (v.inside.begin == begin) v = {};
  forget(s.known);
}

void add_shared(const SharedVariable& variable, const char* place) {
  const auto begin = reinterpret_cast<std::uintptr_t>(place);
  state().pieces.push_back({begin, begin + variable.bytes, &variable});
}

void end_launch() {
  State& s = state();
  end_block();  // one that was aborted
  forget(s.known);
  forget(s.known_in_block);
  race_search::end_launch(running_launch());
  show_findings();
}

namespace {

// What follows at this place need not come here while it stays inside. Of memory that has been written in part, that is at first only
// what has been written round the address: then none of it is asked for.
void remember(State& s, const void* site, MemorySpace space, memory::Range inside, std::uintptr_t address,
              std::size_t bytes) {
  KnownPlace& place = known_place(site);
  const bool again = place.site == site;
  bool in_part = memory::in_device_arena(inside.begin) && (again || !memory::is_all_written(inside.begin));
  if (in_part && !again) {
    const memory::Range written = memory::written_round(address, inside);
    if (written.contains(address) && written.bytes - (address - written.begin) >= bytes)
      inside = written, in_part = false;
  }
  if (inside.bytes < bytes) return;
  const bool in_block = space == MemorySpace::shared;
  std::vector<KnownPlace*>& known = in_block ? s.known_in_block : s.known;
  if (known.size() >= 2 * kKnownPlaces) forget(known);  // places that take turns in one slot
  if (place.site == nullptr || place.in_block != in_block) known.push_back(&place);
  place = {site, inside.begin, inside.bytes - bytes, in_part, in_block};
}

void end_race_search(State& s) {
  race_search::left = -1;
  for (Visited& v : s.visited) v = {};
}

// Managed and pinned memory: what is remembered about it is asked for after the launch, too.
bool host_can_reach(MemorySpace space, std::uintptr_t address) {
  if (space == MemorySpace::shared || memory::in_device_arena(address)) return false;
  const memory::Allocation* a = memory::find(address);
  return a == nullptr || !is_on_device(*a) || a->space == Space::managed;
}

}  // namespace

template <Access kind, std::uint32_t bytes>
MemorySpace check_quickly(const Lane& lane, std::uintptr_t address, const void* site) {
  if (bytes < 4) return MemorySpace::none;
  State& s = state();
  const Visited& v = s.visit(site);
  const std::uintptr_t offset = address - v.inside.begin;
  if (s.doubt.address || v.site != site || v.block_first != s.block_first || offset >= v.inside.bytes ||
      v.inside.bytes - offset < bytes || (address & (bytes - 1)) != 0)
    return MemorySpace::none;
  constexpr bool load = kind == Access::load;
  if (v.space == MemorySpace::constant) return load ? v.space : MemorySpace::none;
  const bool shared = v.space == MemorySpace::shared;
  if (load && !shared && !memory::is_written(address, bytes)) return MemorySpace::none;
  if (race_search::left == 0) return MemorySpace::none;  // now it ends
  const Cell first = s.shadow.words.at_once(address);
  if (!first) return MemorySpace::none;
  const auto thread = static_cast<std::uint16_t>(lane.linear);
  for (unsigned i = 0; i < bytes / 4; ++i) {
    const Cell c = first + i;
    if (!c.write->is_of_plain_word() || !write_comes_before(s, *c.write, thread, shared, load) ||
        !(load || reads_come_before(s, c, thread, shared)))
      return MemorySpace::none;
  }
  const WarpClock& clock = s.clocks[thread / kWarpSize];
  for (unsigned i = 0; i < bytes / 4; ++i) {
    if (load)
      note_read(s, first + i, thread, clock, v.number, false);
    else
      note_write(s, *(first + i).write, thread, clock, v.number, false, false);
  }
  if (!load && !shared) memory::mark_written(address, bytes);
  --race_search::left;
  return v.space;
}

#define TILEWISE_CHECKED_QUICKLY(bytes)                                                              \
  template MemorySpace check_quickly<Access::load, bytes>(const Lane&, std::uintptr_t, const void*); \
  template MemorySpace check_quickly<Access::store, bytes>(const Lane&, std::uintptr_t, const void*);
TILEWISE_CHECKED_QUICKLY(1)
TILEWISE_CHECKED_QUICKLY(2)
TILEWISE_CHECKED_QUICKLY(4)
TILEWISE_CHECKED_QUICKLY(8)
TILEWISE_CHECKED_QUICKLY(16)
#undef TILEWISE_CHECKED_QUICKLY

void check(Lane& lane, MemorySpace space, const void* p, std::size_t bytes, Access kind, const void* site,
           std::size_t alignment) {
  State& s = state();
  if (s.doubt.address) settle_doubt(s);
  if (space == MemorySpace::local) {
    if (!on_own_stack(reinterpret_cast<std::uintptr_t>(p)) && !report_again("local-of-another", site))
      report_finding(
          finding_of("local-of-another",
                     fmt::format("this thread {} a local variable of another thread; on a GPU local memory is each "
                                 "thread's own, and the same address means another place there",
                                 verb(kind)),
                     lane, site));
    return;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  if (race_search::left == 0) end_race_search(s);
  memory::Range inside = check_bounds(s, lane, space, address, bytes, kind, site);
  if (inside.bytes == 0) return;
  if (space == MemorySpace::constant && kind == Access::load) {
    if (race_search::goes_on())
      s.visit(site) = {site, s.block_first, s.number(site), space, inside};
    else
      remember(s, site, space, inside, address, bytes);
    return;
  }
  if (space == MemorySpace::constant) {
    if (report_again("constant-write", site)) return;
    report_finding(finding_of(
        "constant-write",
        "this thread writes constant memory, which kernels can only read: " + global_place(address, bytes).name, lane,
        site));
    return;
  }
  check_alignment(s, lane, space, address, bytes, kind, site, alignment);
  if (corners_only) {
    s.visit(site) = {site, 0, s.number(site), space, inside};  // for messages; of no block, so that all come here
    return count_access_of_corner();
  }
  const bool is_atomic = kind == Access::atomic || kind == Access::reduction;
  const bool speaks = is_atomic || lane.volatile_access;
  if (speaks) take_over(s, lane.linear, space, address);
  const bool bounds_only = !race_search::goes_on() && !host_can_reach(space, address);
  Now now = access_now(s, lane, space, address, bytes, kind, site);
  now.is_number = is_atomic || (alignment == bytes && bytes <= 8);
  if (space == MemorySpace::global && !memory::in_arenas(address))
    now.to_copy = memory::distance_to_copy(address, running_launch().device);
  if (!s.uses.empty() && space == MemorySpace::global) check_other_work(now, inside);
  if (now.to_copy != 0) inside = {};  // only here is it known where the copy is
  if (bounds_only && !(speaks && s.fenced_in_launch))
    remember(s, site, space, inside, address, bytes);
  else if (!bounds_only)
    s.visit(site) = {site, s.block_first, now.site_number, space, inside};
  if (space == MemorySpace::global) {
    if (kind != Access::store) check_global_written(now);
    if (kind != Access::load) memory::mark_written(address, bytes);
  }
  if (!bounds_only) {
    check_race(now);
    --race_search::left;
  }
  if (speaks && kind != Access::load) hand_over(s, lane.linear, space, address);
}

namespace {

// Calls f(write) for the last write of each word, or byte, of the bytes at `address`.
template <class Function>
void for_each_write(State& s, std::uintptr_t address, std::size_t bytes, Function f) {
  for (std::uintptr_t at = address; at < address + bytes; ++at) {
    const Cell c = s.shadow.words.at(at);
    if (c.write->split)
      f(*s.shadow.bytes.at(at).write);
    else if (at == address || (at & 3) == 0)
      f(*c.write);
  }
}

}  // namespace

// From now until it is waited for, the copy may read its source and write its target at any moment: both are checked now and
// marked, so that who comes between is found, and dated again when it has been waited for.
[[gnu::noinline]] void begin_copy(Lane& lane, const AsyncCopy& copy, MemorySpace to_space, MemorySpace from_space) {
  State& s = state();
  if (s.doubt.address) settle_doubt(s);
  const auto to = reinterpret_cast<std::uintptr_t>(copy.to), from = reinterpret_cast<std::uintptr_t>(copy.from);
  const bool reads_other = copy.read != 0 && from_space != MemorySpace::global && from_space != MemorySpace::host;
  if (to_space != MemorySpace::shared || reads_other) {
    report_finding(
        finding_of("async-memory",
                   to_space != MemorySpace::shared
                       ? "this asynchronous copy does not go to shared memory, the only memory that it can go to"
                       : "this asynchronous copy does not come from global memory, the only memory that it can come "
                         "from",
                   lane, copy.site));
    abort_launch(cudaErrorIllegalAddress, true);
  }
  bool inside = check_bounds(s, lane, to_space, to, copy.bytes, Access::copy_to, copy.site).bytes != 0;
  if (copy.read != 0)
    inside &= check_bounds(s, lane, from_space, from, copy.read, Access::copy_from, copy.site).bytes != 0;
  if (!inside) return;
  check_alignment(s, lane, to_space, to, copy.bytes, Access::copy_to, copy.site, copy.bytes);
  const Now target = access_now(s, lane, to_space, to, copy.bytes, Access::copy_to, copy.site);
  s.copies[target.site_number] = true;
  if (copy.read != 0) {
    check_alignment(s, lane, from_space, from, copy.bytes, Access::copy_from, copy.site, copy.bytes);
    const Now source = access_now(s, lane, from_space, from, copy.read, Access::copy_from, copy.site);
    if (corners_only) {
      count_access_of_corner();
    } else {
      check_global_written(source);
      if (race_search::goes_on()) check_race(source);
      for_each_write(s, from, copy.read, [](LastWrite& write) { write.copied_from = true; });
    }
  }
  if (!race_search::goes_on()) return;
  check_race(target);
  for_each_write(s, to, copy.bytes, [](LastWrite& write) { write.copied_to = true; });
}

[[gnu::noinline]] void end_copy(Lane& lane, const AsyncCopy& copy) {
  State& s = state();
  if (s.doubt.address) settle_doubt(s);
  const auto to = reinterpret_cast<std::uintptr_t>(copy.to), from = reinterpret_cast<std::uintptr_t>(copy.from);
  if (copy.read != 0 && !corners_only && race_search::goes_on())
    check_race(access_now(s, lane, MemorySpace::global, from, copy.read, Access::copy_from, copy.site));
  const Now target = access_now(s, lane, MemorySpace::shared, to, copy.bytes, Access::copy_to, copy.site);
  for_each_write(s, to, copy.bytes, [&](LastWrite& write) {
    write.copied_to = false;
    write.interval = s.interval;
    write.thread = target.thread;
    write.time = target.time;
    write.site = target.site_number;
  });
}

namespace {

// Calls f(cell, address) for each cell of the bytes that has been needed, until it returns false.
template <class Function>
void each_used_cell(State& s, std::uintptr_t address, std::size_t bytes, Function f) {
  for (std::uintptr_t at = address, end = address + bytes; at < end;) {
    std::uintptr_t chunk_end = 0, ignored = 0;
    Cell c = s.shadow.words.existing(at, chunk_end);
    chunk_end = std::min(chunk_end, end);
    if (!c) {
      at = chunk_end;
      continue;
    }
    for (; at < chunk_end; c = c + 1) {
      const std::uintptr_t next = std::min(chunk_end, (at | 3) + 1);
      if (!c.write->split) {
        if (!f(c, at)) return;
        at = next;
        continue;
      }
      for (; at < next; ++at)
        if (const Cell byte = s.shadow.bytes.existing(at, ignored); byte && !f(byte, at)) return;
    }
  }
}

}  // namespace

void look_over(const char* name, void* site, const order::Bytes& bytes, const char* does, bool writes) {
  State& s = state();
  const auto find = [&](std::uint32_t interval, std::uint16_t other, const char* verb, std::uintptr_t at) {
    const order::Launched* launch = interval == 0 ? nullptr : order::unordered_launch(interval);
    if (launch == nullptr) return true;
    if (report_again("race-streams", site, s.sites[other])) return false;
    Finding f;
    f.code = "race-streams";
    f.site = site != nullptr ? site : s.sites[other];
    f.other_site = s.sites[other];
    f.message = fmt::format("{} {} {}, which a launch {} at {}: nothing says which comes first{}", name, does,
                            global_place(at, 4).name, verb, describe_site(s.sites[other]), order::advice(launch->work));
    report_finding(std::move(f));
    return false;
  };
  // Nearly always there is no such launch.
  if (order::unordered_launches() == 0) return;
  for (std::size_t run = 0; run < bytes.runs; ++run)
    each_used_cell(s, bytes.begin + run * bytes.stride, bytes.run, [&](const Cell& c, std::uintptr_t at) {
      return find(c.write->interval, c.write->site, c.write->is_atomic ? "updates" : "writes", at) &&
             (!writes || (find(c.read->interval, c.read->site, "reads", at) &&
                          find(*c.older_read, c.read->older_site, "reads", at)));
    });
}

void look_at_host(std::uintptr_t address, std::size_t bytes, bool writes, void* site) {
  State& s = state();
  const auto find = [&](std::uint32_t interval, std::uint16_t other, bool is_volatile, const char* may,
                        std::uintptr_t at) {
    const order::Launched* launch = interval == 0 || is_volatile ? nullptr : order::unfinished_launch(interval);
    if (launch == nullptr || order::may_have_been_told(launch->work)) return true;
    if (report_again("host-too-early", site, s.sites[other])) return false;
    Finding f;
    f.code = "host-too-early";
    f.site = site;
    f.other_site = s.sites[other];
    const int device = order::device_of(launch->work.stream);
    const bool elsewhere = device != current_device();
    f.message = fmt::format(
        "host code {} {}, which a kernel{}, at {}, {}: a launch returns at once; {}cudaDeviceSynchronize() first",
        writes ? "writes" : "reads", global_place(at, 4).name, elsewhere ? fmt::format(" on device {}", device) : "",
        describe_site(s.sites[other]), may, elsewhere ? fmt::format("cudaSetDevice({}) and ", device) : "");
    report_finding(std::move(f));
    return false;
  };
  each_used_cell(s, address, bytes, [&](const Cell& c, std::uintptr_t at) {
    return find(c.write->interval, c.write->site, c.write->is_volatile || c.write->is_atomic,
                writes ? "may write later" : "may not have written yet", at) &&
           (!writes || (find(c.read->interval, c.read->site, c.read->is_volatile, "may still read", at) &&
                        find(*c.older_read, c.read->older_site, c.read->older_is_volatile, "may still read", at)));
  });
}

void missing_return(Lane& lane, const void* site) {
  if (report_again("missing-return", site)) return;
  report_finding(finding_of("missing-return", kMissingReturn, lane, site));
}

void host_code(Lane& lane, const std::string& message, const void* site) {
  report_finding(finding_of("host-code", message, lane, site));
}

void wrong_index(Lane& lane, const char* type, std::int64_t index, const void* site) {
  State& s = state();
  // "'float [16][17]'" or "'float[16][17]'": the element's type and the array's lengths.
  std::string words = type;
  std::erase(words, '\'');
  for (std::size_t at; (at = words.find(" [")) != std::string::npos;) words.erase(at, 1);
  std::vector<std::size_t> lengths;
  for (std::size_t at = words.find('['); at != std::string::npos; at = words.find('[', at + 1))
    lengths.push_back(std::strtoull(words.c_str() + at + 1, nullptr, 10));
  if (lengths.empty()) return;
  // The variable is not known, but its lengths are: a shared one has them all, or its last ones when it is a row.
  const SharedVariable* shared = nullptr;
  bool row = false;
  for (const SharedPiece& p : s.pieces) {
    if (!p.variable || p.variable->shape.rank < lengths.size() || shared) continue;
    const ArrayShape& shape = p.variable->shape;
    const unsigned skipped = shape.rank - static_cast<unsigned>(lengths.size());
    if (!std::equal(lengths.begin(), lengths.end(), shape.extents + skipped)) continue;
    shared = p.variable;
    row = skipped != 0;
  }
  s.indexed_wrongly = &lane;
  if (shared && report_again("out-of-bounds-shared", site)) return;
  // Of variables of the device, which are indexed wrongly less often, the compiler tells as little.
  const std::string of = shared ? fmt::format("{}{}", row ? "a row of " : "", shared->name)
                                : fmt::format("an array ({}), a local one or the device's", words);
  report_finding(finding_of(shared ? "out-of-bounds-shared" : "out-of-bounds-local",
                            fmt::format("this thread uses index {} of {}, which has {} elements", grouped(index), of,
                                        grouped_digits(lengths[0])),
                            lane, site));
  if (!shared) abort_launch(cudaErrorIllegalAddress, true);  // else the simulator's own stack would suffer
}

}  // namespace tilewise::sim::checker
