// What one thread's accesses are to others without a barrier between them: which fences follow them, what was told by a flag, who has seen it.
#pragma once

#include <algorithm>
#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "model/shadow.hpp"

namespace tilewise::sim::checker {

// What a store or atomic of one block has told to others: the accesses that a fence follows, before that store.
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
// after that: a barrier or a meeting of lanes passes on both.
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

}  // namespace tilewise::sim::checker
