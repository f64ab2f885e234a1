#include "model/checker.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "driver_types.h"
#include "model/shadow.hpp"
#include "runtime/findings.hpp"
#include "runtime/memory.hpp"
#include "runtime/symbols.hpp"

namespace tilewise::sim::checker {
namespace {

using model::MemorySpace;
using observer::Access;

struct SharedPiece {
  std::uintptr_t begin, end;
  const SharedVariable* variable;
};

// Two threads stored to one word without order. Harmless when both stored the same value, which is known only after the
// second store: until then it waits here.
struct DoubtfulStore {
  const void* address = nullptr;
  std::size_t bytes = 0;
  unsigned char before[16];
  Finding finding;
};

struct State {
  Shadow shadow;
  WarpClock clocks[kMaxWarps];
  std::uint32_t interval = 0, block_first = 1, launch_first = 1;
  std::vector<std::pair<std::uint32_t, uint3>> blocks;  // first interval of each block of the launch
  std::vector<SharedPiece> pieces;
  std::vector<const void*> sites{nullptr};  // cells name sites by number
  std::unordered_map<const void*, std::uint16_t> site_number;
  const void* last_site = nullptr;
  std::uint16_t last_site_number = 0;
  DoubtfulStore doubt;

  // Hand-over between blocks: after a fence, an atomic passes on what was written before; an atomic on the same word
  // takes over.
  bool fenced = false;  // the running block has executed __threadfence()
  std::unordered_map<std::uintptr_t, std::uint32_t> handed_over;  // word -> interval up to which it passes on
  std::uint32_t taken_over = 0;

  std::uint16_t number(const void* site) {
    if (site == last_site) return last_site_number;
    auto [entry, is_new] = site_number.try_emplace(site, static_cast<std::uint16_t>(sites.size()));
    if (is_new && sites.size() < 0xFFFF) sites.push_back(site);
    last_site = site;
    return last_site_number = entry->second;
  }
};

State& state() {
  static State* s = new State;
  return *s;
}

const char* verb(Access kind) {
  switch (kind) {
    case Access::load: return "reads";
    case Access::store: return "writes";
    default: return "updates";
  }
}

std::string thread_name(const State& s, std::uint32_t interval, unsigned thread) {
  const dim3 b = running_launch().config.block;
  uint3 block = running_launch().block;
  auto after = std::upper_bound(s.blocks.begin(), s.blocks.end(), interval,
                                [](std::uint32_t i, const auto& e) { return i < e.first; });
  if (after != s.blocks.begin()) block = std::prev(after)->second;
  auto triple = [](unsigned x, unsigned y, unsigned z) {
    return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
  };
  return "block " + triple(block.x, block.y, block.z) + ", thread " +
         triple(thread % b.x, thread / b.x % b.y, thread / b.x / b.y);
}

std::string block_name(const State& s, std::uint32_t interval) {
  const std::string name = thread_name(s, interval, 0);
  return name.substr(0, name.find(", thread"));
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

// "word 5 of tile", "byte 20 of the dynamic shared memory", "byte 64 of the 4096-byte device allocation made at a.cu:3".
std::string describe_place(const State& s, MemorySpace space, std::uintptr_t address) {
  if (space != MemorySpace::shared) return memory::describe(address);
  const SharedPiece* p = nearest_piece(s, address);
  if (!p) return "shared memory that the kernel does not have";
  const std::string name = p->variable ? std::string(p->variable->name) : "the dynamic shared memory";
  const std::string size = std::to_string(p->end - p->begin);
  if (address < p->begin) return std::to_string(p->begin - address) + " bytes before the start of " + name;
  if (address >= p->end)
    return std::to_string(address - p->end) + " bytes past the end of " + name + " (" + size + " bytes)";
  return "byte " + std::to_string(address - p->begin) + " of " + name;
}

Finding make(const char* code, std::string message, const Lane& lane, const void* site) {
  Finding f;
  f.code = code;
  f.message = std::move(message);
  f.site = site;
  f.threads = describe_thread(lane);
  return f;
}

void settle_doubt(State& s) {
  DoubtfulStore& d = s.doubt;
  if (std::memcmp(d.address, d.before, d.bytes) != 0) report_finding(std::move(d.finding));
  d.address = nullptr;
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
};

// A thread of the same block touched the word in the same interval. Is that ordered before the access now?
bool ordered_in_warp(const Now& now, unsigned thread, std::uint16_t time) {
  return thread / kWarpSize == now.thread / kWarpSize && now.clock.seen[now.lane_id][thread % kWarpSize] >= time;
}

void report_race(const Now& now, std::uint32_t interval, unsigned thread, bool known_thread, Access other_kind,
                 std::uint16_t other_site, bool both_store) {
  State& s = now.s;
  const bool other_block = interval < s.block_first;
  const bool same_warp = !other_block && known_thread && thread / kWarpSize == now.thread / kWarpSize;
  const void* other = s.sites[other_site];
  std::string message = std::string("this thread ") + verb(now.kind) + " " +
                        describe_place(s, now.space, now.address) + ", which " +
                        (other_block ? block_name(s, interval)
                                     : known_thread ? "thread " + thread_name(s, interval, thread).substr(
                                                                      thread_name(s, interval, thread).find("thread ") + 7)
                                                    : std::string("another thread")) +
                        " " + verb(other_kind) + " at " + describe_site(other);
  if (other_block)
    message += "; blocks run in any order";
  else if (same_warp)
    message += "; lanes of a warp need not run in step: put a __syncwarp() between";
  else
    message += "; no __syncthreads() stands between";
  Finding f = make(same_warp ? "warp-synchronous" : now.space == MemorySpace::shared ? "race-shared" : "race-global",
                   std::move(message), now.lane, now.site);
  f.other_site = other;
  if (both_store && now.bytes <= sizeof s.doubt.before) {
    if (s.doubt.address) return;
    s.doubt.address = reinterpret_cast<const void*>(now.address);
    s.doubt.bytes = now.bytes;
    std::memcpy(s.doubt.before, s.doubt.address, now.bytes);
    s.doubt.finding = std::move(f);
    return;
  }
  report_finding(std::move(f));
}

void check_cell(const Now& now, Cell& c) {
  State& s = now.s;
  const bool is_atomic = now.kind == Access::atomic || now.kind == Access::reduction;
  const bool writes = now.kind != Access::load;

  // Against the last write. An atomic conflicts with plain writes only: a plain read beside it gets the old value or the
  // new one, which programs that retry with atomicCAS rely on.
  if (c.write_interval >= s.launch_first && !(c.write_atomic && now.kind != Access::store)) {
    if (c.write_interval >= s.block_first) {
      if (c.write_interval == s.interval && c.write_thread != now.thread &&
          !ordered_in_warp(now, c.write_thread, c.write_time))
        report_race(now, c.write_interval, c.write_thread, true, c.write_atomic ? Access::atomic : Access::store,
                    c.write_site, now.kind == Access::store && !c.write_atomic);
    } else if (now.space != MemorySpace::shared && c.write_interval > s.taken_over) {
      report_race(now, c.write_interval, 0, false, c.write_atomic ? Access::atomic : Access::store, c.write_site,
                  now.kind == Access::store && !c.write_atomic);
    }
  }
  // A plain write also against the reads.
  if (now.kind == Access::store) {
    if (c.read_interval == s.interval) {
      const bool same_warp = c.read_thread / kWarpSize == now.thread / kWarpSize;
      bool raced = c.many_warps || !same_warp;
      unsigned reader = c.read_thread;
      if (same_warp && !c.many_warps) {
        for (std::uint32_t rest = c.read_lanes & ~(1u << now.lane_id); rest != 0 && !raced; rest &= rest - 1) {
          reader = c.read_thread / kWarpSize * kWarpSize + static_cast<unsigned>(std::countr_zero(rest));
          raced = now.clock.seen[now.lane_id][reader % kWarpSize] < c.read_time;
        }
      }
      if (raced) report_race(now, c.read_interval, reader, reader != now.thread, Access::load, c.read_site, false);
    } else if (now.space != MemorySpace::shared && c.read_interval >= s.launch_first &&
               c.read_interval < s.block_first && c.read_interval > s.taken_over) {
      report_race(now, c.read_interval, 0, false, Access::load, c.read_site, false);
    } else if (now.space != MemorySpace::shared && c.older_read_interval >= s.launch_first &&
               c.older_read_interval > s.taken_over) {
      report_race(now, c.older_read_interval, 0, false, Access::load, c.older_read_site, false);
    }
  }

  if (writes) {
    c.write_interval = s.interval;
    c.write_thread = now.thread;
    c.write_time = now.time;
    c.write_site = now.site_number;
    c.write_atomic = is_atomic;
  }
  if (now.kind == Access::load) {
    if (c.read_interval != s.interval) {
      if (c.read_interval >= s.launch_first && c.read_interval < s.block_first) {
        c.older_read_interval = c.read_interval;
        c.older_read_site = c.read_site;
      }
      c.read_interval = s.interval;
      c.read_thread = now.thread;
      c.read_lanes = 1u << now.lane_id;
      c.many_warps = false;
    } else if (c.read_thread / kWarpSize == now.thread / kWarpSize) {
      // Readers that are ordered before this one need not be remembered: who comes after it comes after them.
      bool all_before = true;
      for (std::uint32_t rest = c.read_lanes; rest != 0 && all_before; rest &= rest - 1)
        all_before = now.clock.seen[now.lane_id][std::countr_zero(rest)] >= c.read_time;
      c.read_lanes = (all_before ? 0 : c.read_lanes) | 1u << now.lane_id;
    } else {
      c.many_warps = true;
    }
    c.read_time = now.time;
    c.read_site = now.site_number;
  }
}

void check_race(const Now& now) {
  State& s = now.s;
  std::uintptr_t at = now.address;
  const std::uintptr_t end = at + now.bytes;
  bool unwritten = false;
  while (at < end) {
    Cell* c = s.shadow.cell(at);
    const bool whole = (at & 3) == 0 && end - at >= 4;
    if (whole && !c->split) {
      unwritten |= c->write_interval < s.block_first;
      check_cell(now, *c);
      at += 4;
      continue;
    }
    if (!c->split) {
      const std::uintptr_t word = at & ~std::uintptr_t{3};
      for (unsigned k = 0; k < 4; ++k) *s.shadow.byte_cell(word + k) = *c;
      c->split = true;
    }
    const std::uintptr_t word_end = std::min(end, (at | 3) + 1);
    for (; at < word_end; ++at) {
      Cell& byte = *s.shadow.byte_cell(at);
      unwritten |= byte.write_interval < s.block_first;
      check_cell(now, byte);
    }
  }
  if (unwritten && now.space == MemorySpace::shared && now.kind != Access::store)
    report_finding(make("uninitialised-shared",
                        "this thread reads " + describe_place(s, now.space, now.address) +
                            ", which no thread of the block has written",
                        now.lane, now.site));
}

// ---------------------------------------------------------------------------------------------- bounds
// Returns false when the access must not be looked at further.
bool check_bounds(State& s, Lane& lane, MemorySpace space, std::uintptr_t address, std::size_t bytes, Access kind,
                  const void* site) {
  if (space == MemorySpace::shared) {
    for (const SharedPiece& p : s.pieces)
      if (address >= p.begin && address + bytes <= p.end) return true;
    report_finding(make("out-of-bounds-shared",
                        std::string("this thread ") + verb(kind) + " " + describe_place(s, space, address), lane, site));
    return false;
  }
  if (space == MemorySpace::host) {
    const bool null = address < 4096;
    report_finding(make(null ? "null-pointer" : "host-pointer",
                        null ? std::string("this thread ") + verb(kind) + " through a null pointer"
                             : std::string("this thread ") + verb(kind) +
                                   " host memory; copy the data to memory from cudaMalloc first",
                        lane, site));
    abort_launch(cudaErrorIllegalAddress, true);
  }
  const memory::Allocation* a = memory::find(address);
  if (a && a->live && address + bytes <= a->end()) return true;
  if (a && !a->live) {
    report_finding(make("use-after-free",
                        std::string("this thread ") + verb(kind) + " memory that was freed: " + memory::describe(address),
                        lane, site));
    return false;
  }
  report_finding(make("out-of-bounds", std::string("this thread ") + verb(kind) + " " + memory::describe(address), lane,
                      site));
  const memory::Allocation* near = memory::nearest(address);
  const bool in_red_zone = near && near->live && address + memory::kRedZone >= near->begin &&
                           address + bytes <= near->end() + memory::kRedZone;
  if (!in_red_zone) abort_launch(cudaErrorIllegalAddress, true);
  return false;
}

}  // namespace

void begin_launch(const Launch&) {
  State& s = state();
  s.launch_first = s.interval + 1;
  s.blocks.clear();
  s.handed_over.clear();
}

void begin_block() {
  State& s = state();
  if (s.doubt.address) settle_doubt(s);
  const Launch& launch = running_launch();
  s.block_first = ++s.interval;
  s.blocks.emplace_back(s.block_first, launch.block);
  s.fenced = false;
  s.taken_over = 0;
  s.pieces.clear();
  if (launch.config.shared != 0) {
    const auto begin = reinterpret_cast<std::uintptr_t>(shared_begin + kSharedRegion);
    s.pieces.push_back({begin, begin + launch.config.shared, nullptr});
  }
  const dim3 b = launch.config.block;
  const unsigned warps = (b.x * b.y * b.z + kWarpSize - 1) / kWarpSize;
  for (unsigned w = 0; w < warps; ++w) s.clocks[w].reset();
}

void block_barrier() {
  State& s = state();
  if (s.doubt.address) settle_doubt(s);
  ++s.interval;
}

void warp_meeting(unsigned warp, std::uint32_t arrived) { state().clocks[warp].meet(arrived); }

void device_fence() { state().fenced = true; }

void add_shared(const SharedVariable& variable, const char* place) {
  const auto begin = reinterpret_cast<std::uintptr_t>(place);
  state().pieces.push_back({begin, begin + variable.bytes, &variable});
}

void end_launch() {
  State& s = state();
  if (s.doubt.address) settle_doubt(s);
}

void check(Lane& lane, MemorySpace space, const void* p, std::size_t bytes, Access kind, const void* site) {
  State& s = state();
  if (s.doubt.address) settle_doubt(s);
  if (space == MemorySpace::local) return;
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  if (space == MemorySpace::constant && kind == Access::load) return;
  if (!check_bounds(s, lane, space, address, bytes, kind, site)) return;
  if (space == MemorySpace::constant) {
    report_finding(make("constant-write", "this thread writes constant memory: " + memory::describe(address), lane, site));
    return;
  }
  if (bytes <= 16 && std::has_single_bit(bytes) && address % bytes != 0) {
    report_finding(make("misaligned",
                        "this thread " + std::string(verb(kind)) + " " + std::to_string(bytes) +
                            " bytes at once at an address that is not a multiple of " + std::to_string(bytes) + ": " +
                            describe_place(s, space, address),
                        lane, site));
    abort_launch(cudaErrorMisalignedAddress, true);
  }
  if (space == MemorySpace::global) {
    if (kind != Access::store && !memory::is_written(address, bytes))
      report_finding(make("uninitialised",
                          "this thread reads " + memory::describe(address) + ", which nothing has written", lane, site));
    if (kind != Access::load) memory::mark_written(address, bytes);
  }
  const bool is_atomic = kind == Access::atomic || kind == Access::reduction;
  if (is_atomic && space == MemorySpace::global) {
    auto passed = s.handed_over.find(address);
    if (passed != s.handed_over.end()) s.taken_over = std::max(s.taken_over, passed->second);
    if (s.fenced) s.handed_over[address] = s.interval;
  }
  const unsigned l = lane.linear % kWarpSize;
  const WarpClock& clock = s.clocks[lane.linear / kWarpSize];
  check_race(Now{s, lane, space, address, bytes, kind, site, static_cast<std::uint16_t>(lane.linear), clock.time[l],
                 s.number(site), l, clock});
}

}  // namespace tilewise::sim::checker
