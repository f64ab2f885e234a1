// Asynchronous copies: what they read and write from their beginning until they are waited for.
#include <cstddef>
#include <cstdint>

#include "base/findings.hpp"
#include "driver_types.h"
#include "model/checker.hpp"
#include "model/checker/bounds.hpp"
#include "model/checker/races.hpp"
#include "model/checker/words.hpp"

namespace tilewise::sim::checker {

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

}  // namespace tilewise::sim::checker
