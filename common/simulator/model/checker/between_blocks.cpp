#include "model/checker/between_blocks.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace tilewise::sim::checker {

namespace {

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

}  // namespace

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

}  // namespace tilewise::sim::checker
