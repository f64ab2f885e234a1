#include "base/memory.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "base/devices.hpp"
#include "base/for_ever.hpp"
#include "base/memory/pages.hpp"
#include "base/memory/state.hpp"

namespace tilewise::sim::memory {

Range device_arena;
Range device_variables;
bool watched[kWatchedStretches] = {};
Range open_arena;
Range hidden_variables;
Range guarded;
std::uint8_t* written_shadow = nullptr;
int opened = 0;
std::uint64_t changes = 0;

namespace {

constexpr std::size_t kMostMemory = std::size_t(64) << 30;  // virtual bytes; no program of a lesson needs more
constexpr std::uintptr_t kHint = 0x100000000000;            // far from what programs and loaders use

/// Reserves everything. The devices' arenas come first, so that their offsets do not depend on the rest.
void reserve_arenas() {
  State& s = state();
  s.capacity = std::min(device().memory, kMostMemory);
  const std::size_t slack = s.capacity / 8;  // for red zones
  std::uintptr_t at = 0;
  for (;; s.capacity /= 2) {  // a machine with little address space gets a smaller card
    if (s.capacity < (std::size_t(64) << 20)) give_up("simulator: no address space for device memory");
    const std::size_t arena = round_up(s.capacity + slack, std::size_t(1) << 21);
    const std::size_t all = arena * static_cast<std::size_t>(device_count());
    at = reserve(kHint, all + arena + all / 8);
    if (at == 0) continue;
    device_arena = {at, all};
    open_arena = {at + all, arena};
    watch({at, all + arena});
    written_shadow = bytes_at(at + all + arena);
    break;
  }
  std::uintptr_t next = at;
  for (Arena* arena : arenas()) {
    arena->closes = arena != &s.open;
    arena->range = {next, open_arena.bytes};
    arena->cursor = arena->committed = next;
    arena->shadow_committed = reinterpret_cast<std::uintptr_t>(written_shadow) + (next - at) / 8;
    next += open_arena.bytes;
  }
  install_fault_handler();
}

/// Opens pages that are used for the first time.
void commit(Arena& arena, std::uintptr_t end) {
  State& s = state();
  end = round_up(end, page_size());
  if (end > arena.committed) {
    if (!arena.closes || !s.closed) protect(arena.committed, end, kOpen);
    arena.committed = end;
  }
  if (!arena.closes) return;
  const std::uintptr_t shadow_end =
      round_up(reinterpret_cast<std::uintptr_t>(written_shadow) + (end - device_arena.begin) / 8 + 1, page_size());
  if (shadow_end > arena.shadow_committed) {
    protect(arena.shadow_committed, shadow_end, kOpen);
    arena.shadow_committed = shadow_end;
  }
}

/// As on a GPU, where large allocations begin with a page of their own: which cache lines L1 looks up together depends on
/// their addresses.
std::size_t alignment_of(std::size_t bytes) {
  constexpr std::size_t kPage = std::size_t{2} << 20;
  return bytes >= kPage ? kPage : kAlignment;
}

/// First gap between allocations that has room for `bytes` and both red zones; 0 when there is none.
std::uintptr_t find_gap(const Arena& arena, std::size_t bytes, std::size_t alignment) {
  std::uintptr_t end = arena.range.begin;
  for (const auto& [begin, record] : arena.records) {
    const std::uintptr_t at = round_up(end + kRedZone, alignment);
    if (at + bytes + kRedZone <= begin) return at;
    end = record.end();
  }
  const std::uintptr_t at = round_up(end + kRedZone, alignment);
  return at + bytes + kRedZone <= arena.cursor ? at : 0;
}

std::uintptr_t place(Arena& arena, std::size_t bytes) {
  const std::uintptr_t at = round_up(arena.cursor + kRedZone, alignment_of(bytes));
  const std::uintptr_t limit = arena.range.begin + arena.range.bytes;
  if (at <= limit && bytes + kRedZone <= limit - at) {
    arena.cursor = at + bytes + kRedZone;
    return at;
  }
  if (const std::uintptr_t gap = find_gap(arena, bytes, alignment_of(bytes))) return gap;
  std::erase_if(arena.records, [](const auto& entry) { return !entry.second.live && !entry.second.kept; });
  forget_recent();
  if (const std::uintptr_t gap = find_gap(arena, bytes, alignment_of(bytes))) return gap;
  return find_gap(arena, bytes, kAlignment);
}

void take_large_pages(std::uintptr_t begin, std::uintptr_t end) {
  std::vector<bool>& given = large_pages();
  const std::size_t last = std::min((end - device_arena.begin + kLargePage - 1) / kLargePage, given.size());
  for (std::size_t page = (begin - device_arena.begin) / kLargePage; page < last; ++page) given[page] = false;
}

/// Gives fresh memory its contents: 0xFF for the device, zeros for the host.
void fill(Arena& arena, std::uintptr_t begin, std::size_t bytes) {
  const std::uintptr_t end = begin + bytes;
  const std::uintptr_t first = round_up(begin, page_size());
  const std::uintptr_t last = round_down(end, page_size());
  if (!arena.closes) {
    protect(round_down(begin, page_size()), round_up(end, page_size()), kOpen);
    zero_pages(begin, end);
    return;
  }
  const DeviceMemoryOpen open;
  take_large_pages(begin, end);
  if (fill_pages(first, last)) {
    std::memset(bytes_at(begin), 0xFF, first - begin);
    std::memset(bytes_at(last), 0xFF, end - last);
  } else {
    std::memset(bytes_at(begin), 0xFF, bytes);
  }
  // Shadow bytes at the edges belong to this allocation alone: it starts aligned, and red zones follow.
  const auto shadow = reinterpret_cast<std::uintptr_t>(written_shadow) + (begin - device_arena.begin) / 8;
  zero_pages(shadow, shadow + (bytes + 7) / 8);
}

void give_back(Allocation& record, void* call_site) {
  record.live = false;
  record.free_site = call_site;
  if (record.kind == Kind::device) arena_of(record.begin)->used -= record.bytes;
  if (record.heap) arena_of(record.begin)->heap_used -= record.heap_bytes;
  // Host code that uses freed managed memory faults where whole pages went.
  const std::uintptr_t first = round_up(record.begin, page_size());
  const std::uintptr_t last = round_down(record.end(), page_size());
  forget_pages(first, last);
  if (arena_of(record.begin)->closes && !state().closed) protect(first, last, kOpen);
}

}  // namespace

std::vector<Arena*> arenas() {
  std::vector<Arena*> all;
  for (int i = 0; i < device_count(); ++i) all.push_back(&state().devices[static_cast<std::size_t>(i)]);
  all.push_back(&state().open);
  return all;
}

Arena* arena_of(std::uintptr_t address) {
  if (device_arena.contains(address)) return &state().devices[(address - device_arena.begin) / open_arena.bytes];
  if (open_arena.contains(address)) return &state().open;
  return nullptr;
}

void insert_sorted(std::vector<Allocation>& sorted, const Allocation& entry) {
  forget_recent();
  sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), entry,
                                 [](const Allocation& a, const Allocation& b) { return a.begin < b.begin; }),
                entry);
}

std::vector<bool>& large_pages() {
  static auto& given = *for_ever<std::vector<bool>>();
  return given;
}

void* allocate(std::size_t bytes, Kind kind, void* call_site, bool closed) {
  State& s = state();
  ++changes;
  if (device_arena.bytes == 0) reserve_arenas();
  if (bytes == 0 || bytes > s.capacity) return nullptr;
  Arena& own = s.devices[static_cast<std::size_t>(current_device())];
  if (kind == Kind::device && bytes > s.capacity - own.used) return nullptr;
  closed = closed || kind == Kind::device || kind == Kind::variable;
  Arena& arena = closed ? own : s.open;
  const std::uintptr_t begin = place(arena, bytes);
  if (begin == 0) return nullptr;
  const bool backed = !s.addresses_only || !closed || kind == Kind::variable;
  if (backed) commit(arena, begin + bytes + kRedZone);

  Allocation record;
  record.begin = begin;
  record.bytes = bytes;
  record.kind = kind;
  record.serial = kind == Kind::variable ? 0 : ++s.serials;
  record.device = current_device();
  record.call_site = call_site;
  arena.records.insert_or_assign(begin, record);
  if (kind == Kind::device) arena.used += bytes;
  if (backed) fill(arena, begin, bytes);
  if (backed && closed && kind != Kind::device) mark_written(begin, bytes);
  return bytes_at(begin);
}

bool allocate_again(void* pointer, void* call_site) {
  State& s = state();
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  Arena& arena = *arena_of(begin);
  Allocation& record = arena.records.at(begin);
  if (record.bytes > s.capacity - arena.used) return false;
  ++changes;
  record.live = true;
  record.serial = ++s.serials;
  record.call_site = call_site;
  record.all_written = false;
  arena.used += record.bytes;
  if (!s.addresses_only) fill(arena, begin, record.bytes);
  return true;
}

void keep_addresses(void* pointer, bool keep) {
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  arena_of(begin)->records.at(begin).kept = keep;
}

bool may_access(int device, const Allocation& allocation) {
  if (allocation.pool == nullptr) return sim::may_access(device, allocation.device);
  return device == allocation.device || allocation.open_to[device];
}

void set_pool(void* pointer, cudaMemPool_t pool, const bool* open_to) {
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  Allocation& allocation = arena_of(begin)->records.at(begin);
  allocation.pool = pool;
  allocation.open_to = open_to;
}

void* allocate_on_heap(std::size_t bytes, std::size_t taken, std::size_t most, void* call_site) {
  if (device_arena.bytes == 0) reserve_arenas();
  Arena& own = state().devices[static_cast<std::size_t>(current_device())];
  if (own.heap_used > most || taken > most - own.heap_used) return nullptr;
  void* const pointer = allocate(bytes, Kind::device, call_site);
  if (pointer == nullptr) return nullptr;
  Allocation& record = own.records.find(reinterpret_cast<std::uintptr_t>(pointer))->second;
  record.heap = true;
  record.heap_bytes = taken;
  own.heap_used += taken;
  return pointer;
}

void addresses_only() { state().addresses_only = true; }
bool has_addresses_only() { return state().addresses_only; }
void pages_on_demand() {
  constexpr std::size_t kMostPages = 30'000;  // each is a mapping of its own, of which Linux allows some 65,000
  state().addresses_only = true;
  state().pages_left = kMostPages;
}

Release release(void* pointer, void* call_site) {
  ++changes;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  Arena* arena = arena_of(address);
  if (arena == nullptr) return Release::not_an_allocation;
  const auto found = arena->records.find(address);
  if (found == arena->records.end()) return find(address) ? Release::inner_pointer : Release::not_an_allocation;
  if (!found->second.live) return Release::already_freed;
  give_back(found->second, call_site);
  return Release::ok;
}

bool register_host(void* pointer, std::size_t bytes, unsigned flags, void* call_site) {
  Allocation entry;
  entry.begin = reinterpret_cast<std::uintptr_t>(pointer);
  entry.bytes = bytes;
  entry.kind = Kind::registered;
  entry.device = current_device();
  entry.flags = flags;
  entry.call_site = call_site;
  for (const Allocation& other : state().registered) {
    if (entry.begin < other.end() && other.begin < entry.end()) return false;
  }
  insert_sorted(state().registered, entry);
  return true;
}

bool unregister_host(void* pointer) {
  forget_recent();
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return std::erase_if(state().registered, [=](const Allocation& entry) { return entry.begin == address; }) > 0;
}

void release_all(int device) {
  State& s = state();
  ++changes;
  for (Arena* arena : arenas()) {
    for (auto& [begin, record] : arena->records) {
      if (!record.live || record.device != device) continue;
      record.freed_by_reset = true;
      give_back(record, nullptr);
    }
  }
  std::erase_if(s.registered, [=](const Allocation& entry) { return entry.device == device; });
  begin_variables_anew(device);
  forget_recent();
}

std::size_t capacity() {
  if (device_arena.bytes == 0) reserve_arenas();
  return state().capacity;
}

std::size_t used_bytes(int device) { return state().devices[static_cast<std::size_t>(device)].used; }

}  // namespace tilewise::sim::memory
