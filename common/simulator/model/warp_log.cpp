#include "model/warp_log.hpp"

#include <algorithm>

namespace tilewise::sim::model {

namespace {
std::uint64_t scatter(std::uint64_t key) {
  key *= 0x9E3779B97F4A7C15ull;
  return key >> 20;
}
}  // namespace

WarpLog::WarpLog() : slots_(256), addresses_(kLanes * (256 + kPadding)), stride_(256 + kPadding), table_(1024) {}

// What follows another instruction in the same iteration shares its loops.
void WarpLog::note_loops(WarpInstruction& w, const Lane& thread) {
  const void* place = thread.loop ? thread.loop->place() : nullptr;
  if (loops_.empty() || thread.loop_context != noted_context_ || place != noted_place_) {
    noted_ = static_cast<std::uint32_t>(loops_.size());
    for (const Loop* loop = thread.loop; loop; loop = loop->around())
      loops_.push_back(
          {loop->place(), loop->outer_context(), static_cast<std::uint32_t>(loop->iteration()), loop->facts()});
    std::reverse(loops_.begin() + noted_, loops_.end());
    noted_depth_ = static_cast<std::uint16_t>(loops_.size() - noted_);
    noted_context_ = thread.loop_context;
    noted_place_ = place;
  }
  w.loops = noted_;
  w.depth = noted_depth_;
}

std::uint32_t WarpLog::find_or_append(std::uint64_t key, const Lane& thread, const void* site, observer::Access kind,
                                      MemorySpace space, std::uint32_t bytes, unsigned known_bits) {
  const unsigned lane = thread.linear % kWarpSize;
  const std::uint64_t where = key ^ thread.loop_context;
  for (;;) {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = scatter(key) & mask;
    while (table_[at] != 0 && slots_[table_[at] - 1].key != key) at = (at + 1) & mask;
    if (table_[at] != 0) {
      if (!(slots_[table_[at] - 1].mask >> lane & 1u)) return table_[at] - 1;
      // The lane has been here before in this interval, in a loop that carries no mark: a further instruction.
      key = (key + 1) * 0xBF58476D1CE4E5B9ull;
      continue;
    }
    if (count_ == slots_.size()) grow();
    WarpInstruction& w = slots_[count_];
    w.key = key;
    w.site = site;
    w.mask = 0;
    w.next = count_ + 1;
    w.bytes = static_cast<std::uint16_t>(bytes);
    w.kind = kind;
    w.space = space;
    w.known_bits = static_cast<std::uint8_t>(known_bits);
    w.stays = thread.volatile_access;
    w.where = where;
    note_loops(w, thread);
    table_[at] = ++count_;
    if (std::size_t{count_} * 2 > table_.size()) grow_table();
    return count_ - 1;
  }
}

void WarpLog::add_copy(std::uint64_t context, const AsyncCopy& copy, const char* shared, Lane& thread) {
  const unsigned lane = thread.linear % kWarpSize;
  add(context, copy.site, observer::Access::copy_from, MemorySpace::global, reinterpret_cast<std::uintptr_t>(copy.from),
      copy.bytes, thread);
  WarpInstruction& w = slots_[thread.last_slot];
  if (w.mask == 1u << lane) {  // its first lane
    w.copy = static_cast<std::uint32_t>(copies_.size());
    copies_.emplace_back();
  }
  CopyTarget& target = copies_[w.copy];
  target.to[lane] = static_cast<std::uint64_t>(static_cast<const char*>(copy.to) - shared);
  target.chosen_zeros = copy.chosen_zeros;
  if (copy.read == 0) return;
  target.read_mask |= 1u << lane;
  target.read = std::max(target.read, copy.read);
}

std::uint64_t WarpLog::shared_loads(unsigned lane) const {
  std::uint64_t loads = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const WarpInstruction& w = slots_[i];
    loads += w.space == MemorySpace::shared && w.kind == observer::Access::load && (w.mask >> lane & 1u);
  }
  return loads;
}

void WarpLog::grow() {
  const std::size_t stride = 2 * slots_.size() + kPadding;
  std::vector<std::uint64_t> wider(kLanes * stride);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    std::copy_n(addresses_.begin() + static_cast<std::ptrdiff_t>(lane * stride_), count_,
                wider.begin() + static_cast<std::ptrdiff_t>(lane * stride));
  addresses_.swap(wider);
  stride_ = stride;
  slots_.resize(2 * slots_.size());
}

void WarpLog::grow_table() {
  table_.assign(table_.size() * 2, 0);
  const std::size_t mask = table_.size() - 1;
  for (std::uint32_t i = 0; i < count_; ++i) {
    std::size_t at = scatter(slots_[i].key) & mask;
    while (table_[at] != 0) at = (at + 1) & mask;
    table_[at] = i + 1;
  }
}

void WarpLog::clear() {
  if (std::size_t{count_} * 8 < table_.size()) {
    const std::size_t mask = table_.size() - 1;
    for (std::uint32_t i = count_; i-- > 0;) {
      // Youngest first: what stands before an entry in its probe chain is older, so every chain is still whole.
      std::size_t at = scatter(slots_[i].key) & mask;
      while (table_[at] != i + 1) at = (at + 1) & mask;
      table_[at] = 0;
    }
  } else {
    std::fill(table_.begin(), table_.end(), 0);
  }
  count_ = 0;
  first_ = 0;
  loops_.clear();
  copies_.clear();
}

}  // namespace tilewise::sim::model
