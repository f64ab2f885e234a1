#include "model/checker.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/findings.hpp"
#include "model/checker/bounds.hpp"
#include "model/checker/races.hpp"
#include "model/known_places.hpp"
#include "model/race_search.hpp"

namespace tilewise::sim::checker {

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

// Where a variable of the program is remembered: each device has a copy of its own.
std::uintptr_t distance_to_copy(MemorySpace space, std::uintptr_t address) {
  const bool may_be = space == MemorySpace::global || space == MemorySpace::constant;
  return may_be && !memory::in_arenas(address) ? memory::distance_to_copy(address, running_launch().device) : 0;
}

// No kernel writes it, but copies do: those in other streams may come at any time.
void check_constant_load(Now now, memory::Range inside) {
  State& s = now.s;
  if (!corners_only) {
    now.to_copy = distance_to_copy(now.space, now.address);
    if (!s.uses.empty()) check_other_work(now, inside);
    if (now.to_copy != 0) inside = {};  // only here is it known where the copy is
  }
  if (!race_search::goes_on()) return remember(s, now.site, now.space, inside, now.address, now.bytes);
  s.visit(now.site) = {now.site, s.block_first, now.site_number, now.space, inside};
  if (!s.notes_constants || corners_only) return;
  check_race(now);
  --race_search::left;
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
  if (v.space == MemorySpace::constant && !(load && s.notes_constants)) return load ? v.space : MemorySpace::none;
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
      note_read(s, first + i, thread, clock, v.number, false, false);
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
    return check_constant_load(access_now(s, lane, space, address, bytes, kind, site), inside);
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
  now.to_copy = distance_to_copy(space, address);
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
  if (kind == Access::atomic) s.took[lane.linear] = {address, s.block_first};
  if (speaks && kind != Access::load) hand_over(s, lane.linear, space, address);
}

void missing_return(Lane& lane, const void* site) {
  if (report_again("missing-return", site)) return;
  report_finding(finding_of("missing-return", kMissingReturn, lane, site));
}

void host_code(Lane& lane, const std::string& message, const void* site) {
  report_finding(finding_of("host-code", message, lane, site));
}

}  // namespace tilewise::sim::checker
