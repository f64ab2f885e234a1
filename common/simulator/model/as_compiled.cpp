#include "model/as_compiled.hpp"

#include <algorithm>
#include <bit>

#include "model/l1.hpp"

namespace tilewise::sim::model {

using observer::Access;

namespace {

constexpr unsigned kChunk = 4;        // iterations of a loop with unknown end that nvcc merges over
constexpr std::size_t kBranches = 4;  // looked at before an access
constexpr std::size_t kLevels = 30;   // deeper nests are left alone

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9E3779B97F4A7C15ull;
  return a ^ (a >> 29);
}

bool is_plain(Access kind) { return kind == Access::load || kind == Access::store; }

bool is_load(Access kind) { return kind == Access::load || kind == Access::matrix_load; }

// Whether the compiler must reckon with two accesses going to the same place.
bool may_meet(MemorySpace a, std::uint32_t object_a, MemorySpace b, std::uint32_t object_b) {
  return a == b && object_a == object_b;
}

bool is_unrolled(const InLoop& loop) { return loop.facts == kConstantTrips; }

}  // namespace

InstructionCost cost_of(const LaneAddresses& lanes, Access kind, MemorySpace space, Touched& touched) {
  InstructionCost cost;
  cost.kind = kind;
  cost.space = space;
  cost.bytes = static_cast<unsigned>(std::popcount(lanes.mask)) * lanes.bytes;
  if (space == MemorySpace::global) {
    touched.count = distinct_sectors(lanes, touched.sectors);
    cost.ideal = ideal_sectors(lanes, touched.count);
    const bool is_atomic = kind == Access::atomic || kind == Access::reduction;
    cost.passes = is_atomic ? atomic_sectors(lanes) : touched.count;
    cost.tag_passes = tag_passes(touched.sectors, touched.count);
    // Most requests lie within four sectors, which are 32 words in 32 banks.
    const bool narrow = lanes.bytes <= 4 && touched.sectors[touched.count - 1] - touched.sectors[0] < 4;
    cost.data_passes = narrow ? 1 : data_passes(lanes);
  } else if (space == MemorySpace::shared) {
    if (kind == Access::matrix_load) {
      cost.passes = matrix_load_wavefronts(lanes);
      cost.ideal = ideal_matrix_load_wavefronts(lanes);
    } else {
      cost.passes = shared_wavefronts(lanes, kind == Access::load);
      cost.ideal = ideal_wavefronts(lanes, kind == Access::load);
    }
  }
  return cost;
}

InstructionCost cost_of_copy(const LaneAddresses& lanes, const CopyTarget& target, Touched& touched) {
  InstructionCost cost;
  cost.kind = Access::copy_from;
  cost.space = MemorySpace::global;
  const LaneAddresses from{target.read_mask, target.read, lanes.address};
  if (from.mask != 0) {
    touched.count = distinct_sectors(from, touched.sectors);
    cost.ideal = ideal_sectors(from, touched.count);
    cost.passes = lanes.bytes == 16 ? copied_sectors(from, target.to) : touched.count;
    cost.tag_passes = tag_passes(touched.sectors, touched.count);
    cost.bytes = static_cast<unsigned>(std::popcount(from.mask)) * from.bytes;
  }
  const CopyPasses passes = copy_passes(lanes, target.read_mask, target.to);
  cost.copy_wavefronts = passes.wavefronts;
  cost.data_passes = 1 + passes.at_least;
  return cost;
}

void InstructionCost::add_to(Counters& c) const {
  c.partial_instructions += partial;
  if (space == MemorySpace::global) {
    switch (kind) {
      case Access::load:
        c.global_load_instructions += 1;
        c.global_load_requests += 1;
        c.global_load_sectors += passes;
        c.global_load_tag_passes += tag_passes;
        c.global_load_data_passes += data_passes;
        c.global_load_bytes += bytes;
        break;
      case Access::store:
        c.global_store_instructions += 1;
        c.global_store_requests += 1;
        c.global_store_sectors += passes;
        c.global_store_tag_passes += tag_passes;
        c.global_store_data_passes += data_passes;
        c.global_store_bytes += bytes;
        break;
      case Access::atomic:
        c.atomic_requests += 1;
        c.atomic_sectors += passes;
        break;
      case Access::reduction:
        c.reduction_requests += 1;
        c.reduction_sectors += passes;
        break;
      case Access::copy_from:
        c.async_copy_instructions += 1;
        c.async_copy_wavefronts += copy_wavefronts;
        c.async_copy_data_passes += data_passes;
        c.global_load_requests += bytes != 0;  // a copy that only fills with zeros asks for nothing
        c.global_load_sectors += passes;
        c.global_load_tag_passes += tag_passes;
        c.global_load_bytes += bytes;
        break;
      case Access::copy_to:
      case Access::matrix_load:  // of shared memory only
        break;
    }
  } else if (space == MemorySpace::shared) {
    if (kind == Access::load) {
      c.shared_load_instructions += 1;
      c.shared_load_wavefronts += passes;
      c.shared_load_ideal += ideal;
    } else if (kind == Access::store) {
      c.shared_store_instructions += 1;
      c.shared_store_wavefronts += passes;
      c.shared_store_ideal += ideal;
    } else if (kind == Access::matrix_load) {
      c.matrix_load_instructions += 1;
      c.matrix_load_wavefronts += passes;
      c.matrix_load_ideal += ideal;
    }
  }
}

// Whether an instruction accesses what an earlier one did, in the same lanes or fewer.
bool AsCompiled::repeats(const WarpLog& log, std::uint32_t index, const std::uint64_t* address, std::uint32_t earlier) {
  const WarpInstruction &w = log[index], &e = log[earlier];
  if ((w.mask & ~e.mask) != 0 || w.bytes != e.bytes) return false;
  for (std::uint32_t m = w.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    if (address[lane] != log.address(earlier, lane)) return false;
  }
  return true;
}

void AsCompiled::begin_launch() {
  sites_.clear();
  last_.clear();
  first_conditions_.clear();
  branches_.clear();
  reached_.clear();
  fenced_.clear();
  site_of_.clear();
  candidates_.clear();
  costs_.clear();
}

void AsCompiled::add(const WarpLog& log, std::uint32_t index, const std::uint64_t* address, std::uint64_t addresses,
                     const InstructionCost& cost, std::uint32_t number, std::uint32_t object) {
  const WarpInstruction& w = log[index];
  const InLoop* loops = log.loops(w);
  if (number >= sites_.size()) sites_.resize(number + 1);
  site_of_.push_back(number);
  Site& site = sites_[number];
  if (!site.known) {
    site.known = true;
    site.kind = w.kind;
    site.space = w.space;
    site.object = object;
    for (unsigned l = 0; l < w.depth; ++l) site.levels.push_back({loops[l].place, is_unrolled(loops[l])});
    site.fixed = w.stays || !is_plain(w.kind) || w.depth == 0 || w.depth > kLevels ||
                 (w.space != MemorySpace::global && w.space != MemorySpace::shared);
  }
  if (site.object != object) site.object = 0;
  ++site.instructions;
  if (w.kind == Access::copy_from) {
    // The compiler takes a copy for something that may read and write all memory.
    for (unsigned l = 0; l < w.depth; ++l) fenced_[loops[l].place] = true;
    if (log.copy(w).chosen_zeros) {
      site.result.doubled = true;
      site.result.added.async_copy_instructions += 1;
    }
  }
  // The last branches before it, from the youngest on.
  for (std::size_t r = reached_.size(); r-- > 0 && reached_.size() - r <= kBranches;) {
    if (reached_[r].context != (w.key ^ w.where) || reached_[r].mask != w.mask) continue;
    ++branches_[reached_[r].branch].sites[number];
    break;
  }
  std::uint32_t further = 0;
  if (!site.fixed) further = further_iterations(log, index, address, addresses, site);
  if (further != 0) {
    auto entry = std::find_if(site.repeated.begin(), site.repeated.end(), [&](auto& r) { return r.first == further; });
    if (entry == site.repeated.end()) entry = site.repeated.insert(entry, {further, Counters{}});
    cost.add_to(entry->second);
  } else if (w.known_bits >= 3 && is_plain(w.kind) && !w.stays) {
    // Loops whose bodies are laid end to end: all with constant ends, or chunks of the innermost.
    unsigned level = w.depth;
    while (level > 0 && is_unrolled(loops[level - 1])) --level;
    std::uint64_t region = level < w.depth ? mix(loops[level].around, 1) : 0;
    std::uint32_t iteration = 0;
    if (level == w.depth && level > 0) {
      const InLoop& inner = loops[level - 1];
      region = mix(inner.around, reinterpret_cast<std::uintptr_t>(inner.place));
      if ((inner.facts & kKeptLoop) != 0) {
        region = mix(region, inner.iteration);
      } else {
        iteration = inner.iteration;
        region = mix(region, (iteration + kChunk - 1) / kChunk);
      }
    }
    const std::uint64_t first = address[std::countr_zero(w.mask)];
    const std::uint64_t shape = addresses - first * lane_weights(w.mask);
    candidates_.push_back({region, first, shape, index, number, iteration, static_cast<std::uint32_t>(costs_.size())});
    costs_.push_back(cost);
  }
}

// The loops of which this is a further iteration, with the addresses of the one before: a bit each.
std::uint32_t AsCompiled::further_iterations(const WarpLog& log, std::uint32_t index, const std::uint64_t* address,
                                             std::uint64_t addresses, Site& site) {
  const WarpInstruction& w = log[index];
  const InLoop* loops = log.loops(w);
  if (w.depth != site.levels.size()) {  // a function that is called in different loops
    site.fixed = true;
    return 0;
  }
  std::uint32_t further = 0;
  bool any = false;
  std::uint64_t inner = w.where;  // and the iterations of the loops inside
  for (unsigned l = w.depth; l-- > 0; inner = mix(inner, loops[l].iteration)) {
    Level& level = site.levels[l];
    if (!level.same) continue;
    any = true;
    const std::uint32_t iteration = loops[l].iteration;
    const auto [entry, is_first] = last_.try_emplace(mix(mix(inner, loops[l].around), l), Last{index, iteration});
    if (is_first) {
      level.same = iteration <= 1;
      level.first += mix(w.mask, addresses);
      if (w.kind != Access::load) continue;
      further |= std::uint32_t{just_stored(log, index, address, site)} << l;
      // The compiler that made this program has a loop's condition in two places: before the loop and at its end.
      const std::uint64_t loop = mix(loops[l].around, reinterpret_cast<std::uintptr_t>(loops[l].place));
      if (iteration == 0) {
        first_conditions_[loop].push_back(index);
      } else if (const auto found = first_conditions_.find(loop); found != first_conditions_.end()) {
        for (std::uint32_t earlier : found->second)
          further |= std::uint32_t{repeats(log, index, address, earlier)} << l;
      }
      continue;
    }
    const Last before = std::exchange(entry->second, Last{index, iteration});
    level.same = iteration == before.iteration + 1 && repeats(log, index, address, before.index);
    further |= std::uint32_t{level.same} << l;
  }
  site.fixed = !any;
  return further;
}

// Whether the threads load what they stored themselves, and nothing else was stored since.
bool AsCompiled::just_stored(const WarpLog& log, std::uint32_t index, const std::uint64_t* address,
                             const Site& site) const {
  for (std::uint32_t i = index; i-- > 0;) {
    const WarpInstruction& e = log[i];
    if (e.kind == Access::copy_from) return false;
    if (is_load(e.kind) || !may_meet(e.space, sites_[site_of_[i]].object, site.space, site.object)) continue;
    return e.kind == Access::store && repeats(log, index, address, i);
  }
  return false;
}

void AsCompiled::add_branch(const WarpLog& log, std::uint32_t index, const std::uint64_t* taken) {
  const WarpInstruction& w = log[index];
  site_of_.push_back(~0u);
  std::uint32_t mask = 0;
  for (std::uint32_t m = w.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    mask |= static_cast<std::uint32_t>(taken[lane]) << lane;
  }
  Branch& branch = branches_[w.site];
  ++(mask != 0 ? branch.taken : branch.skipped);
  if (mask != 0) reached_.push_back({w.key ^ w.where, w.site, mask});
}

void AsCompiled::end_interval(const WarpLog& log) {
  if (!candidates_.empty()) {
    std::sort(candidates_.begin(), candidates_.end(), [&](const Candidate& a, const Candidate& b) {
      if (a.region != b.region) return a.region < b.region;
      const WarpInstruction &v = log[a.index], &w = log[b.index];
      if (v.kind != w.kind) return v.kind < w.kind;
      if (v.bytes != w.bytes) return v.bytes < w.bytes;
      if (v.mask != w.mask) return v.mask < w.mask;
      if (a.address != b.address) return a.address < b.address;
      return a.index < b.index;
    });
    for (auto begin = candidates_.begin(); begin != candidates_.end();) {
      const WarpInstruction& v = log[begin->index];
      const auto end = std::find_if(begin + 1, candidates_.end(), [&](const Candidate& c) {
        const WarpInstruction& w = log[c.index];
        return c.region != begin->region || v.kind != w.kind || v.bytes != w.bytes || v.mask != w.mask;
      });
      merge(log, begin, end);
      begin = end;
    }
    candidates_.clear();
    costs_.clear();
  }
  site_of_.clear();
  last_.clear();
  first_conditions_.clear();
  reached_.clear();
}

// Merges what lies side by side among accesses of one kind, one width and the same lanes, sorted by address.
void AsCompiled::merge(const WarpLog& log, std::vector<Candidate>::iterator begin,
                       std::vector<Candidate>::iterator end) {
  const WarpInstruction& kind = log[begin->index];
  for (auto first = begin; first != end;) {
    auto next = first + 1;
    for (unsigned bits = 4; bits >= 3; --bits) {
      const std::uint32_t width = 1u << bits;
      const std::uint32_t parts = width / kind.bytes;
      if (parts < 2) continue;
      // What lies in these bytes: all of it, or three words of a load's four, of which the first.
      auto last = first;
      std::uint32_t found = 0;
      while (last != end && last->address - first->address < width && log[last->index].known_bits >= bits &&
             last->shape == first->shape) {
        found += last == first || last->address != (last - 1)->address;
        ++last;
      }
      const bool three_of_four = kind.kind == Access::load && kind.bytes == 4 && parts == 4 && found == 3;
      if (found != parts && !three_of_four) continue;
      std::uint64_t address[kLanes];
      log.addresses(first->index, address);
      std::uint64_t all = 0;
      for (std::uint32_t m = kind.mask; m != 0; m &= m - 1) all |= address[std::countr_zero(m)];
      if (all % width != 0) continue;
      // Of a loop with unknown end, the last iterations that do not fill a chunk are executed one by one.
      if (first->iteration != 0 && first->iteration != (last - 1)->iteration) {
        if (bits == 4 && log[first->index].known_bits < 5) continue;  // its counter is a pointer, known to be even
        const auto same_site = std::count_if(begin, end, [&](const Candidate& c) { return c.site == first->site; });
        if (same_site % kChunk != 0) continue;
      }
      if (in_the_way(log, first, last)) continue;
      for (auto c = first; c != last; ++c) {
        costs_[c->cost].add_to(sites_[c->site].result.removed);
        sites_[c->site].result.merged = true;
      }
      Touched touched;
      cost_of({kind.mask, width, address}, kind.kind, kind.space, touched).add_to(sites_[first->site].result.added);
      next = last;
      break;
    }
    first = next;
  }
}

// Loads move up to the first of them, stores down to the last. Whether they would pass something that reads or writes the
// same place, as far as the compiler can tell.
bool AsCompiled::in_the_way(const WarpLog& log, std::vector<Candidate>::const_iterator first,
                            std::vector<Candidate>::const_iterator last) const {
  const auto [low, high] =
      std::minmax_element(first, last, [](const Candidate& a, const Candidate& b) { return a.index < b.index; });
  for (auto c = first; c != last; ++c) {
    const WarpInstruction& w = log[c->index];
    const Site& site = sites_[c->site];
    const bool load = w.kind == Access::load;
    const std::uint32_t from = load ? low->index : c->index + 1, to = load ? c->index : high->index;
    for (std::uint32_t i = from; i < to; ++i) {
      const WarpInstruction& e = log[i];
      if (e.space == MemorySpace::none || (load && is_load(e.kind))) continue;
      if (e.kind == Access::copy_from) return true;
      if (!may_meet(e.space, sites_[site_of_[i]].object, site.space, site.object)) continue;
      // Other words of the same 8 or 16 bytes, as far as both addresses are known, or of another 8 or 16.
      const std::uint64_t known = std::uint64_t{1} << std::min({w.known_bits, e.known_bits, std::uint8_t{4}});
      const std::uint64_t one = c->address % known,
                          other = log.address(i, static_cast<unsigned>(std::countr_zero(e.mask))) % known;
      const bool apart = one + w.bytes <= other || other + e.bytes <= one;
      if (known < 8 || !apart) return true;
    }
  }
  return false;
}

void AsCompiled::fence(const Loop* innermost) {
  for (const Loop* loop = innermost; loop; loop = loop->around()) fenced_[loop->place()] = true;
}

// Nothing in the loop may touch what the site touches, except at the very same addresses.
bool AsCompiled::can_leave(const Site& site, std::size_t l) const {
  const Level& level = site.levels[l];
  if (fenced_.count(level.place) != 0) return false;
  for (const Site& other : sites_) {
    if (&other == &site || !other.known || !may_meet(other.space, other.object, site.space, site.object)) continue;
    if (is_load(other.kind) && is_load(site.kind)) continue;
    const auto in_loop =
        std::find_if(other.levels.begin(), other.levels.end(), [&](const Level& o) { return o.place == level.place; });
    if (in_loop == other.levels.end()) continue;
    if (other.fixed || !in_loop->same || in_loop->first != level.first) return false;
  }
  return true;
}

std::vector<Rewritten> AsCompiled::end_launch() {
  for (Site& site : sites_) {
    if (site.fixed || site.repeated.empty()) continue;
    std::uint32_t valid = 0;
    bool inner = true;  // the loops inside are no obstacle
    for (std::size_t l = site.levels.size(); l-- > 0;) {
      Level& level = site.levels[l];
      level.valid = inner && level.same && can_leave(site, l);
      valid |= std::uint32_t{level.valid} << l;
      inner = inner && (level.valid || level.unrolled);
    }
    for (const auto& [further, cost] : site.repeated) {
      if ((further & valid) == 0) continue;
      site.result.removed += cost;
      site.result.moved = true;
    }
  }
  for (const auto& [place, branch] : branches_) {
    for (const auto& [number, times] : branch.sites) {
      Site& site = sites_[number];
      if (times != branch.taken || times != site.instructions || branch.skipped == 0) continue;
      const bool load = site.kind == Access::load;
      Counters& c = site.result.added;
      if (site.space == MemorySpace::global && is_plain(site.kind))
        (load ? c.global_load_instructions : c.global_store_instructions) += branch.skipped;
      else if (site.space == MemorySpace::shared && is_plain(site.kind))
        (load ? c.shared_load_instructions : c.shared_store_instructions) += branch.skipped;
      else
        continue;
      site.result.predicated = true;
    }
  }
  std::vector<Rewritten> results;
  for (const Site& site : sites_) results.push_back(site.result);
  return results;
}

}  // namespace tilewise::sim::model
