#include "model/counter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/for_ever.hpp"
#include "base/memory.hpp"
#include "base/symbols.hpp"
#include "model/as_compiled.hpp"
#include "model/fast_path.hpp"
#include "model/report.hpp"
#include "model/warp_log.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim {

model::WarpLog observer::log;

namespace counter {
namespace {

using model::cost_of;
using model::cost_of_copy;
using model::InstructionCost;
using model::MemorySpace;
using model::WarpInstruction;
using observer::Access;
using observer::context_of;
using observer::counting;
using observer::log;
using observer::only_reads;

// The distinct sectors that a launch touches, and how: two bits for each, in chunks made when first needed.
class SectorSet {
 public:
  void load(std::uint64_t sector) {
    auto [word, shift] = place(sector);
    const std::uint64_t before = word >> shift & 3;
    touched_ += before == 0;
    loaded_ += before == 0;  // once something is stored there, it need not come from anywhere
    if (before == 0) word |= kLoaded << shift;
  }
  void store(std::uint64_t sector) {
    auto [word, shift] = place(sector);
    const std::uint64_t before = word >> shift & 3;
    touched_ += before == 0;
    stored_ += (before & kStored) == 0;
    word |= kStored << shift;
  }
  std::uint64_t touched() const { return touched_; }
  std::uint64_t loaded() const { return loaded_; }
  std::uint64_t stored() const { return stored_; }
  void clear() {
    chunks_.clear();
    touched_ = loaded_ = stored_ = 0;
    last_chunk_ = ~std::uint64_t{0};
  }

 private:
  static constexpr std::uint64_t kLoaded = 1, kStored = 2;
  static constexpr std::uint64_t kChunk = 1 << 14, kInWord = 32;  // sectors

  std::pair<std::uint64_t&, unsigned> place(std::uint64_t sector) {
    const std::uint64_t chunk = sector / kChunk;
    if (chunk != last_chunk_) {
      auto& words = chunks_[chunk];
      if (words.empty()) words.resize(kChunk / kInWord);
      last_chunk_ = chunk;
      last_ = words.data();
    }
    return {last_[sector % kChunk / kInWord], static_cast<unsigned>(2 * (sector % kInWord))};
  }

  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> chunks_;
  std::uint64_t last_chunk_ = ~std::uint64_t{0};
  std::uint64_t* last_ = nullptr;
  std::uint64_t touched_ = 0, loaded_ = 0, stored_ = 0;
};

struct State {
  std::uint64_t ended = 0;           // launches so far
  std::vector<Stratum> sample;       // of the running launch's blocks
  std::vector<LaunchRecord> strata;  // what those that were run did
  Counters before_block;             // what the running stratum had done before its last block
  using Squares = std::array<double, members_of(Counters()).size()>;
  Squares first{};            // what the first block of the running stratum did,
  Squares more{}, squares{};  // and how much more each did: sums, and sums of squares
  Squares variance{};         // of what is counted, since not all blocks were run
  SampleError largest_sample_error;
  std::map<std::uintptr_t, std::pair<std::uint64_t, const void*>> unfinished;  // by whom: allocations written in part
  const void* depends_site = nullptr;  // where they depend on each other, if known
  const char* depends_what = nullptr;  // and by what
  SectorSet touched;
  LaunchRecord record;
  Counters last, last_as_compiled, sum;
  Bound last_bound, sum_of_bounds;
  std::size_t last_static_shared = 0;
  std::uint64_t flop_before[2] = {};                                // what was counted before the running launch
  std::unordered_map<std::uint64_t, std::uint32_t> record_of_site;  // index in record.sites
  model::AsCompiled as_compiled;
  std::vector<AsyncCopy> waited_for;  // since the last barrier of the block, by threads that did nothing meanwhile
  bool barrier_reached = false;       // by the last warp of the block, whose accesses are still to be counted
  std::uint32_t waiting_warps = 0,
                loading_warps = 0;           // since then: those that did so, and those that loaded from shared memory
  std::vector<std::uint64_t> shared_places;  // where the running block's static shared variables begin
  std::uint64_t first_block = 0;             // of the launch
  std::vector<std::uint64_t> restricted;     // where the kernel's __restrict__ parameters point to
};

State& state() {
  static State* s = for_ever<State>();
  return *s;
}

// Tells the pieces of one access apart.
constexpr std::uint64_t kPiecePrime = 0x9E3779B97F4A7C15ull;

/// The last loads of a warp, by what they loaded.
class RecentLoads {
 public:
  /// Whether this is the like of one of them; if not, it is the last one from now on.
  bool has(const WarpInstruction& w, std::uint64_t addresses) {
    const std::uint64_t hash = (std::uint64_t{w.mask} << 32 | w.bytes) * kPrime ^ addresses;
    if (std::find(loads_, loads_ + size_, hash) != loads_ + size_) return true;
    loads_[next_] = hash;
    next_ = (next_ + 1) % kMost;
    size_ = std::min(size_ + 1, kMost);
    return false;
  }
  void clear() { next_ = size_ = 0; }

 private:
  static constexpr unsigned kMost = 32;  // the words of the two sides of a register tile of 16 x 16
  static constexpr std::uint64_t kPrime = 0x9e3779b97f4a7c15;
  std::uint64_t loads_[kMost];
  unsigned next_ = 0, size_ = 0;
};

// What the compiler can tell apart: shared variables by their names, and what a __restrict__ parameter points to. 0: any.
std::uint32_t object_at(const State& s, MemorySpace space, std::uint64_t address) {
  if (space == MemorySpace::shared) {
    if (address >= reinterpret_cast<std::uintptr_t>(shared_begin) + kSharedRegion) return ~0u;  // the dynamic array
    const auto after = std::upper_bound(s.shared_places.begin(), s.shared_places.end(), address);
    return static_cast<std::uint32_t>(after - s.shared_places.begin()) + 1;
  }
  // Of several in one allocation, the last that points before it.
  const auto after = std::upper_bound(s.restricted.begin(), s.restricted.end(), address);
  if (after == s.restricted.begin() || memory::find(*(after - 1)) != memory::find(address)) return 0;
  return static_cast<std::uint32_t>(after - s.restricted.begin());
}

// One call of memcpy loads and stores at the same place.
std::uint64_t key_of(const void* site, Access kind) {
  return reinterpret_cast<std::uintptr_t>(site) * 8 + static_cast<unsigned>(kind);
}

void tally(State& s, std::uint32_t index, std::uint32_t alive, RecentLoads& recent) {
  const WarpInstruction& w = log[index];
  std::uint64_t address[model::kLanes];
  log.addresses(index, address);
  if (w.space == MemorySpace::none) return s.as_compiled.add_branch(log, index, address);
  const model::LaneAddresses lanes{w.mask, w.bytes, address};
  const std::uint64_t addresses = fingerprint(lanes);
  bool repeated = false;
  if (!only_reads(w.kind) || w.kind == Access::copy_from)
    recent.clear();
  else if (w.space == MemorySpace::global || w.space == MemorySpace::shared)
    repeated = recent.has(w, addresses);
  auto [entry, is_new] =
      s.record_of_site.try_emplace(key_of(w.site, w.kind), static_cast<std::uint32_t>(s.record.sites.size()));
  if (is_new) {
    s.record.sites.emplace_back().site = w.site;
    s.record.sites.back().object = object_at(s, w.space, address[std::countr_zero(w.mask)]);
  }
  SiteRecord& site = s.record.sites[entry->second];
  const auto threads = static_cast<unsigned>(std::popcount(w.mask));
  site.instructions += 1;
  site.repeated += repeated;
  site.threads += threads;
  site.bytes = w.bytes;
  site.kind = w.kind;
  site.space = w.space;
  model::Touched touched;
  InstructionCost cost = w.kind == Access::copy_from ? cost_of_copy(lanes, log.copy(w), touched)
                                                     : cost_of(lanes, w.kind, w.space, touched);
  cost.partial = (w.mask & alive) != alive;
  site.partial += cost.partial;
  cost.add_to(s.record.counters);
  if (w.space == MemorySpace::global) {
    if (w.kind == Access::load || w.kind == Access::copy_from)
      for (unsigned i = 0; i < touched.count; ++i) s.touched.load(touched.sectors[i]);
    else
      for (unsigned i = 0; i < touched.count; ++i) s.touched.store(touched.sectors[i]);
    site.sectors += cost.passes;
    site.sectors_ideal += cost.ideal;
    site.tag_passes += cost.tag_passes;
    site.data_passes += cost.data_passes;
    if (repeated) site.repeated_sectors += cost.passes;
    site.wavefronts += cost.copy_wavefronts;
    if (w.kind == Access::copy_from) site.bytes_copied += cost.bytes;
  } else if (w.space == MemorySpace::shared) {
    site.wavefronts += cost.passes;
    site.ideal += cost.ideal;
    if (repeated) site.repeated_wavefronts += cost.passes;
  }
  if (cost.passes > site.worst) {
    site.worst = cost.passes;
    site.example_mask = w.kind == Access::copy_from ? log.copy(w).read_mask : w.mask;
    std::memcpy(site.example, address, sizeof site.example);
  }
  s.as_compiled.add(log, index, address, addresses, cost, entry->second, site.object);
}

// FLOP are counted outside (base/thread.hpp).
void take_flop(State& s) {
  s.record.counters.flop_single += tilewise_flop[0] - s.flop_before[0];
  s.record.counters.flop_double += tilewise_flop[1] - s.flop_before[1];
  std::copy_n(tilewise_flop, 2, s.flop_before);
}

// The record's counts as compiled, from those as written.
void compile(State& s) {
  s.record.as_compiled = s.record.counters;
  const std::vector<model::Rewritten> rewritten = s.as_compiled.end_launch();
  for (std::size_t i = 0; i < rewritten.size(); ++i) {
    s.record.sites[i].rewritten = rewritten[i];
    s.record.as_compiled += rewritten[i].added;
    s.record.as_compiled -= rewritten[i].removed;
  }
  s.as_compiled.begin_launch();
}

// What launches in part have written is unfinished. Places are judged by one address of each.
void follow_unfinished(State& s) {
  const auto allocation_of = [](const SiteRecord& site) {
    return site.space == MemorySpace::global && site.example_mask != 0
               ? memory::find(site.example[std::countr_zero(site.example_mask)])
               : nullptr;
  };
  for (const SiteRecord& site : s.record.sites) {
    const bool reads = only_reads(site.kind);
    const memory::Allocation* a = reads && !s.unfinished.empty() ? allocation_of(site) : nullptr;
    if (!a) continue;
    const auto found = s.unfinished.find(a->begin);
    if (found != s.unfinished.end() && found->second.first == a->serial) s.record.reads_from = found->second.second;
  }
  if (s.record.blocks_run == 0) return;
  for (const SiteRecord& site : s.record.sites) {
    const bool writes = !only_reads(site.kind);
    const memory::Allocation* a = writes ? allocation_of(site) : nullptr;
    if (a) s.unfinished[a->begin] = {a->serial, s.record.kernel};
  }
}

// The launch's record out of those of its strata. When all blocks have been run after all, those of the grid's rest are in
// s.record, and nothing stands for more than itself.
void add_strata(State& s) {
  const bool whole = blocks_depend();
  s.record.depends = dependence();
  for (std::size_t i = 0; i < s.strata.size(); ++i) {
    const std::uint64_t count = s.sample[i].blocks.size();
    s.record.add(s.strata[i], whole ? count : s.sample[i].size, count);
    if (!whole) s.record.blocks_run += count;
  }
  // Nothing has been checked, so nobody knows what has been written.
  for (const memory::Allocation* a : memory::live_allocations()) memory::mark_written_range(a->begin, a->bytes);
  if (whole) return;
  note_sampled_launch();
  Counters kinds;
  kinds.partial_instructions = 1;  // cost nothing
  kinds.global_load_tag_passes = kinds.global_store_tag_passes = 2;
  const auto kind = members_of(kinds), counted = members_of(s.record.counters);
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (counted[i] == 0 || kind[i] == 1) continue;
    const double error = std::sqrt(s.variance[i]) / static_cast<double>(counted[i]);
    s.record.sample_error.include(kind[i] == 2 ? SampleError{error, 0} : SampleError{0, error});
  }
  s.largest_sample_error.include(s.record.sample_error);
}

void forget_waits(State& s) {
  s.waited_for.clear();
  s.waiting_warps = s.loading_warps = 0;
  s.barrier_reached = false;
}

// A warp that fetches while others work doesn't wait in vain.
void count_waits(State& s) {
  if ((s.loading_warps & ~s.waiting_warps) == 0)
    for (const AsyncCopy& copy : s.waited_for)
      s.record.sites[s.record_of_site.at(key_of(copy.site, Access::copy_from))].bytes_waited_for += copy.read;
  forget_waits(s);
}

}  // namespace

void begin_launch(const Launch& launch) {
  State& s = state();
  s.sample = counting ? choose_blocks(launch.config.grid, sample_size()) : std::vector<Stratum>();
  s.strata.clear();
  s.before_block = {};
  s.more = s.squares = s.variance = {};
  s.depends_site = nullptr;
  s.depends_what = nullptr;
  s.record = {};
  s.record.serial = launch.serial;
  s.record.device = launch.device;
  s.record.counted = counting;
  s.record_of_site.clear();
  s.touched.clear();
  s.as_compiled.begin_launch();
  s.restricted.clear();
  forget_waits(s);
  s.first_block = 0;
  log.clear();
  std::copy_n(tilewise_flop, 2, s.flop_before);
  own_arithmetic_seen = {};
}

void end_launch(const Launch& launch) {
  State& s = state();
  take_flop(s);
  compile(s);
  if (!s.sample.empty()) add_strata(s);
  s.record.counters.dram_bytes_at_least = s.touched.touched() * model::kSectorBytes;
  s.record.counters.distinct_bytes_loaded = s.touched.loaded() * model::kSectorBytes;
  s.record.counters.distinct_bytes_stored = s.touched.stored() * model::kSectorBytes;
  s.record.kernel = launch.kernel;
  s.record.parent = launch.parent;
  s.record.launched_at = launch.parent ? launch.site : nullptr;
  s.record.grid = launch.config.grid;
  s.record.block = launch.config.block;
  s.record.dynamic_shared_bytes = launch.config.shared;
  s.record.static_shared_bytes = launch.static_shared;
  s.record.carveout = launch.carveout;
  follow_unfinished(s);
  s.record.as_compiled.dram_bytes_at_least = s.record.counters.dram_bytes_at_least;
  s.record.as_compiled.distinct_bytes_loaded = s.record.counters.distinct_bytes_loaded;
  s.record.as_compiled.distinct_bytes_stored = s.record.counters.distinct_bytes_stored;
  s.record.own_arithmetic = own_arithmetic_seen;
  if (counting) s.record.bound = bound_of(s.record);
  s.last_bound = s.record.bound;
  s.sum_of_bounds += s.last_bound;
  s.last = s.record.counters;
  s.last_as_compiled = s.record.as_compiled;
  ++s.ended;
  s.sum += s.last;
  s.last_static_shared = launch.static_shared;
  if (report_wanted()) add_to_report(std::move(s.record));
}

void begin_block() {
  State& s = state();
  if (s.first_block == 0) s.first_block = running_launch().block_serial;
}

void end_block() {
  if (counting) count_waits(state());
}

const std::vector<std::uint64_t>& suspend_block() {
  end_block();
  return state().shared_places;
}

void resume_block(std::vector<std::uint64_t> shared_places) { state().shared_places = std::move(shared_places); }

void place_shared(const char* place, bool first) {
  State& s = state();
  if (first) s.shared_places.clear();
  s.shared_places.push_back(reinterpret_cast<std::uintptr_t>(place));
}

const std::vector<Stratum>& sample() { return state().sample; }

void end_sample_block() {
  State& s = state();
  take_flop(s);
  const auto now = members_of(s.record.counters), before = members_of(s.before_block);
  const bool is_first = std::all_of(before.begin(), before.end(), [](std::uint64_t n) { return n == 0; });
  for (std::size_t i = 0; i < now.size(); ++i) {
    const auto n = static_cast<double>(now[i] - before[i]);
    if (is_first) s.first[i] = n;
    s.more[i] += n - s.first[i];
    s.squares[i] += (n - s.first[i]) * (n - s.first[i]);
  }
  s.before_block = s.record.counters;
}

void end_stratum() {
  State& s = state();
  const Stratum& stratum = s.sample[s.strata.size()];
  const auto size = static_cast<double>(stratum.size), count = static_cast<double>(stratum.blocks.size());
  for (std::size_t i = 0; i < s.variance.size() && count > 1; ++i) {
    const double of_a_block = std::max(0.0, s.squares[i] - s.more[i] * s.more[i] / count) / (count - 1);
    s.variance[i] += size * (size - count) / count * of_a_block;
  }
  s.more = s.squares = {};
  s.before_block = {};
  compile(s);
  LaunchRecord next;
  next.serial = s.record.serial;
  next.counted = s.record.counted;
  s.strata.push_back(std::exchange(s.record, std::move(next)));
  s.record_of_site.clear();
}

bool blocks_depend() { return state().depends_what != nullptr; }

std::string dependence() {
  const State& s = state();
  return s.depends_what ? describe_site(s.depends_site) + " " + s.depends_what : "";
}

void note_dependence(const void* site, const char* what) {
  State& s = state();
  if (s.sample.empty() || s.depends_what) return;
  s.depends_site = site;
  s.depends_what = what;
}

void block_barrier() { state().barrier_reached = true; }

void fence(const Lane& lane) {
  if (counting) state().as_compiled.fence(lane.loop);
}

void restricted(const void* pointer) {
  State& s = state();
  if (!counting || running_launch().block_serial != s.first_block) return;
  if (!memory::find(pointer)) return;
  const auto at = reinterpret_cast<std::uintptr_t>(pointer);
  s.restricted.insert(std::upper_bound(s.restricted.begin(), s.restricted.end(), at), at);
}

void end_of_interval(Lane* lanes) {
  State& s = state();
  if (!counting) return;
  std::uint32_t alive = 0;
  const unsigned threads =
      running_launch().config.block.x * running_launch().config.block.y * running_launch().config.block.z;
  for (unsigned i = 0; i < kWarpSize; ++i) {
    alive |= std::uint32_t{lanes[0].linear + i < threads} << i;
    lanes[i].last_slot = model::WarpLog::kNone;
  }
  RecentLoads recent;
  for (std::uint32_t i = 0; i < log.size(); ++i) tally(s, i, alive, recent);
  const std::uint32_t warp = 1u << lanes[0].linear / kWarpSize;
  for (std::uint32_t i = 0; i < log.size(); ++i)
    if (log[i].space == MemorySpace::shared && log[i].kind == Access::load) s.loading_warps |= warp;
  if (std::exchange(s.barrier_reached, false)) count_waits(s);
  async::end_of_interval(lanes);
  s.as_compiled.end_interval(log);
  log.clear();
}

void access(Lane& lane, MemorySpace space, const void* address, std::size_t bytes, Access kind, const void* site,
            observer::Layout layout) {
  if (!counting || space == MemorySpace::host || space == MemorySpace::local) return;
  if (space == MemorySpace::global && kind == Access::atomic)
    note_dependence(site, "uses the value that an atomic returns");
  else if (space == MemorySpace::global && lane.volatile_access)
    note_dependence(site, "reads or writes a volatile variable");
  auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::uint64_t context = context_of(lane);
  const std::size_t width = layout.width;
  for (std::uint64_t piece = 0; bytes != 0; ++piece, at += width, bytes -= width)
    log.add(context ^ piece * kPiecePrime, site, kind, space, at, static_cast<std::uint32_t>(width), lane,
            layout.known_bits);
}

void piece(Lane& lane, MemorySpace space, const void* address, std::size_t bytes, Access kind, const void* site,
           unsigned number) {
  if (!counting || space == MemorySpace::host || space == MemorySpace::local) return;
  log.add(context_of(lane) ^ number * kPiecePrime, site, kind, space, reinterpret_cast<std::uintptr_t>(address),
          static_cast<std::uint32_t>(bytes), lane);
  log.keep(lane.last_slot);
}

void tensor_instructions(std::uint64_t instructions, std::uint64_t flop) {
  if (!counting) return;
  Counters& c = state().record.counters;
  c.tensor_instructions += instructions;
  c.tensor_flop += flop;
}

void begin_copy(Lane& lane, const AsyncCopy& copy) {
  if (counting) log.add_copy(context_of(lane), copy, shared_begin, lane);
}

std::uint64_t shared_loads(const Lane& lane) { return counting ? log.shared_loads(lane.linear % kWarpSize) : 0; }

void waited_for(const AsyncCopy& copy) {
  State& s = state();
  s.waited_for.push_back(copy);
  s.waiting_warps |= 1u << copy.thread / kWarpSize;
}

}  // namespace counter

std::uint64_t launches_ended() { return counter::state().ended; }

std::uint64_t blocks_run() { return running_launch().block_serial; }
const SampleError& largest_sample_error() { return counter::state().largest_sample_error; }
const Counters& last_counters() { return counter::state().last; }
const Counters& last_counters_as_compiled() { return counter::state().last_as_compiled; }
const Counters& sum_of_counters() { return counter::state().sum; }
Bound last_bound() { return counter::state().last_bound; }
InFlight last_in_flight() { return in_flight(counter::state().record); }
const Bound& sum_of_bounds() { return counter::state().sum_of_bounds; }
void forget_sum() {
  counter::state().sum = {};
  counter::state().sum_of_bounds = {};
  counter::state().largest_sample_error = {};
}
std::size_t last_static_shared() { return counter::state().last_static_shared; }

}  // namespace tilewise::sim
