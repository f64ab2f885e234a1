// Races: the access now against what is remembered of the cell, and what is remembered of it then. Nearly all time of the checker is
// spent in these functions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/findings.hpp"
#include "model/checker/access.hpp"
#include "model/checker/between_blocks.hpp"
#include "model/checker/between_launches.hpp"
#include "model/checker/race_reports.hpp"
#include "model/checker/unwritten.hpp"
#include "model/checker/words.hpp"

namespace tilewise::sim::checker {

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
                                             const WarpClock& clock, std::uint16_t site, bool is_volatile,
                                             bool is_atomic) {
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
            older ? read.is_volatile : read.older_is_volatile,
            is_atomic,
            older ? read.is_atomic : read.older_is_atomic};
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
  const bool says_less = read.many_warps && read.is_atomic && !is_atomic;
  if (others == 0 && !says_less) read.site = site, read.is_atomic = is_atomic;
}

// Whether a plain write stays remembered when an atomic comes: the next atomic has to be ordered after it, too.
[[gnu::always_inline]] inline bool stays(const Now& now, const LastWrite& write) {
  return !write.is_atomic &&
         write.interval >= (now.space == MemorySpace::shared ? now.s.shared_first : now.s.unordered_first);
}

// What a race with those that have read is with.
inline Other met_reader(const Now& now, std::uint32_t interval, int thread, std::uint16_t site, bool is_volatile,
                        bool is_atomic) {
  const bool update = is_atomic && (is_volatile || !now.is_volatile);
  return {interval, thread, update ? Access::atomic : Access::load, site, is_volatile && !is_atomic};
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

  // Against the last plain write. An atomic conflicts with plain writes only: a plain read beside it gets the old value or the
  // new one, which programs that retry with atomicCAS rely on. So atomics are remembered among those who read.
  if (write.interval >= s.launch_first && !write.is_atomic && !in_flight) {
    const bool same_block = write.interval >= s.block_first;
    if (same_block ? write.interval >= s.epoch_first && write.thread != now.thread &&
                         write.interval > s.acquired[now.thread] &&
                         !ordered_in_warp(now, write.thread, write.interval, write.time)
                   : now.space != MemorySpace::shared && !comes_after_write(now, write)) {
      const bool has_read = !read.is_atomic && read.interval >= s.epoch_first &&
                            (read.many_warps || (read.thread / kWarpSize == now.thread / kWarpSize &&
                                                 (read.lanes >> now.lane_id & 1u) != 0));
      const bool copied = now.space == MemorySpace::shared && s.copies[write.site];
      report_race(now, {write.interval, write.thread, copied ? Access::copy_to : Access::store, write.site,
                        write.is_volatile, has_read, copied && !write.copied_to});
    }
  }
  // A plain write also against the reads. Who has got a value by an atomic of its own may know by it that it is the last.
  if (plain_write && !in_flight) {
    const bool took = s.took[now.thread].is(now.address, s.block_first);
    const bool global = now.space != MemorySpace::shared;
    bool raced = false;
    if (read.interval >= s.epoch_first) {
      const bool same_warp = read.thread / kWarpSize == now.thread / kWarpSize;
      raced = read.many_warps || !same_warp;
      unsigned reader = read.thread;
      if (read.interval <= s.acquired[now.thread] || (took && read.is_atomic)) {
        raced = false;
      } else if (same_warp && !read.many_warps) {
        for (std::uint32_t rest = read.lanes & ~(1u << now.lane_id); rest != 0 && !raced; rest &= rest - 1) {
          reader = read.thread / kWarpSize * kWarpSize + static_cast<unsigned>(std::countr_zero(rest));
          raced = !now.clock.knows(now.lane_id, reader % kWarpSize, read.interval, read.time);
        }
      }
      if (raced)
        report_race(now, met_reader(now, read.interval, reader == now.thread ? -1 : static_cast<int>(reader), read.site,
                                    read.is_volatile, read.is_atomic));
    } else if (global && read.interval >= s.launch_first && read.interval < s.block_first &&
               !(took && read.is_atomic) && !comes_after_reads(now, read)) {
      raced = true;
      report_race(now, met_reader(now, read.interval, read.thread, read.site, read.is_volatile, read.is_atomic));
    }
    if (!raced && global && *c.older_read >= s.launch_first && !(took && read.older_is_atomic) &&
        !comes_after_older_read(now, *c.older_read))
      report_race(now,
                  met_reader(now, *c.older_read, -1, read.older_site, read.older_is_volatile, read.older_is_atomic));
  }

  if (writes && !(is_atomic && stays(now, write)))
    note_write(s, write, now.thread, now.clock, now.site_number, is_atomic, now.is_volatile);
  if (!writes || is_atomic)
    note_read(s, c, now.thread, now.clock, now.site_number, now.is_volatile || is_atomic, is_atomic);
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
           (read.lanes & ~(1u << thread % kWarpSize)) == 0 && (shared || *c.older_read < s.unordered_first);
  if (shared) return true;
  return (read.interval < s.unordered_first || read.interval >= s.block_first) && *c.older_read < s.unordered_first;
}

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

}  // namespace tilewise::sim::checker
