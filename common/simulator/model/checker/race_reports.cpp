#include "model/checker/race_reports.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "base/findings.hpp"
#include "base/symbols.hpp"
#include "model/async_copies.hpp"
#include "model/checker/between_blocks.hpp"
#include "model/checker/words.hpp"

namespace tilewise::sim::checker {

namespace {

constexpr int kBetweenBlocks = 10;
constexpr const char* kUpdate =
    "; no barrier helps where several threads update one element: atomicAdd() or another atomic, or a reduction";

bool updates(Access kind) { return kind == Access::atomic || kind == Access::reduction; }

// The thread has got a value by an atomic elsewhere, and no fence tells of it: that may be meant for a lock.
const char* for_a_lock(const Now& now, bool between_blocks) {
  const Taken& took = now.s.took[now.thread];
  if (took.block_first != now.s.block_first || took.address == now.address) return "";
  return between_blocks ? "; if an atomic before it is a lock or a ticket, that orders nothing without fences: "
                          "__threadfence() after a thread has got it, and before an atomic gives it on"
                        : "; if an atomic before it is a lock, that orders nothing without fences: "
                          "__threadfence_block() after a thread has taken it, and before an atomic gives it back";
}

// The same as advice() of two blocks, which no barrier orders, but for locks.
std::pair<std::string, int> advice_without_lock(const Now& now, const Other& other, bool same_line) {
  const bool both_store = now.kind == Access::store && other.kind == Access::store;
  if (both_store && same_line && other.updates) return {kUpdate, 3};
  const bool beside_atomic = now.s.took[now.thread].is(now.address, now.s.block_first);
  if ((updates(now.kind) && other.kind == Access::store) || (updates(other.kind) && now.kind == Access::store) ||
      (both_store && beside_atomic))
    return {
        "; a plain store has no order with the atomics of other blocks: a lock is given back by atomicExch(), after "
        "__threadfence(), and what atomics count is set before the launch",
        3};
  if (both_store) return {"; blocks run in any order, so which value stays is up to chance: let one of them write", 2};
  if (running_launch().config.cooperative) return {"; blocks run in any order: put a sync() of the grid between", 1};
  return {
      "; blocks run in any order, and no barrier is between them: separate arrays or a second launch, or a flag set "
      "by an atomic after __threadfence()",
      1};
}

std::pair<std::string, int> advice_between_blocks(const Now& now, const Other& other, bool same_line) {
  if (const char* missing = missing_between_blocks(now, other.interval)) return {missing, 4};
  auto [cure, weight] = advice_without_lock(now, other, same_line);
  return {cure + for_a_lock(now, true), weight};
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
  if (both_store && same_line && other.updates) return {std::string(kUpdate) + for_a_lock(now, false), 3};
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

}  // namespace

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

}  // namespace tilewise::sim::checker
