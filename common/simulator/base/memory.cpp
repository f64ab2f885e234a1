#include "base/memory.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__linux__)
#include <link.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/devices.hpp"
#include "base/findings.hpp"
#include "base/for_ever.hpp"
#include "base/inline_cache.hpp"
#include "base/loaded_pieces.hpp"
#include "base/symbols.hpp"
#include "base/thread.hpp"
#include "tilewise_sim/report.hpp"

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

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
constexpr int kClosed = PROT_NONE;
constexpr int kOpen = PROT_READ | PROT_WRITE;

// Closing device memory is certain this many times, and goes on until this many pages have been closed.
constexpr int kCertainClosings = 8;
constexpr std::size_t kPagesToClose = 1 << 16;

std::size_t page_size() {
  static const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

std::uintptr_t round_up(std::uintptr_t value, std::size_t step) { return (value + step - 1) / step * step; }
std::uintptr_t round_down(std::uintptr_t value, std::size_t step) { return value / step * step; }
std::uint8_t* bytes_at(std::uintptr_t address) { return reinterpret_cast<std::uint8_t*>(address); }

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(2);
}

/// Address space without memory behind it.
std::uintptr_t reserve(std::uintptr_t hint, std::size_t bytes) {
  void* at = mmap(reinterpret_cast<void*>(hint), bytes, kClosed, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? 0 : reinterpret_cast<std::uintptr_t>(at);
}

void protect(std::uintptr_t begin, std::uintptr_t end, int how) {
  if (begin < end && mprotect(bytes_at(begin), end - begin, how) != 0) give_up("simulator: mprotect");
}

/// Gives the physical pages back and closes the range; it reads as zeros when opened again.
void forget_pages(std::uintptr_t begin, std::uintptr_t end) {
  if (begin >= end) return;
  void* at =
      mmap(bytes_at(begin), end - begin, kClosed, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (at == MAP_FAILED) give_up("simulator: mmap");
}

/// Makes open memory zero; of a large range, whole pages are exchanged rather than touched.
void zero_pages(std::uintptr_t begin, std::uintptr_t end) {
  constexpr std::size_t kLarge = std::size_t(1) << 20;
  const std::uintptr_t first = round_up(begin, page_size());
  const std::uintptr_t last = round_down(end, page_size());
  if (end - begin < kLarge) {
    std::memset(bytes_at(begin), 0, end - begin);
    return;
  }
  std::memset(bytes_at(begin), 0, first - begin);
  forget_pages(first, last);
  protect(first, last, kOpen);
  std::memset(bytes_at(last), 0, end - last);
}

/// A file of 0xFF bytes: mapping it privately fills large allocations without touching their pages.
class Pattern {
 public:
  static constexpr std::size_t kBytes = std::size_t(4) << 20;

  /// Fills whole pages [begin, end), which become open. False where files cannot be mapped.
  static bool fill(std::uintptr_t begin, std::uintptr_t end) {
    static const int file = make();
    if (file < 0) return false;
    for (std::uintptr_t at = begin; at < end; at += kBytes) {
      void* mapped =
          mmap(bytes_at(at), std::min(kBytes, end - at), kOpen, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, file, 0);
      if (mapped == MAP_FAILED) return false;
    }
    return true;
  }

 private:
  static int make() {
    char path[] = "/tmp/tilewise-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0) return -1;
    unlink(path);
    fcntl(file, F_SETFD, FD_CLOEXEC);
    const std::vector<std::uint8_t> ones(std::size_t(64) << 10, 0xFF);
    for (std::size_t done = 0; done < kBytes; done += ones.size()) {
      if (write(file, ones.data(), ones.size()) != static_cast<ssize_t>(ones.size())) {
        close(file);
        return -1;
      }
    }
    return file;
  }
};

using Records = std::map<std::uintptr_t, Allocation>;  // by first address

/// A device's address range, or the host's: bump allocation, then the gaps that freed allocations left.
struct Arena {
  Range range;
  bool closes = false;           // inaccessible while host code runs
  std::uintptr_t cursor = 0;     // first address never used
  std::uintptr_t committed = 0;  // pages up to here have been opened at least once
  std::uintptr_t shadow_committed = 0;
  std::size_t used = 0;       // bytes of live allocations by cudaMalloc
  std::size_t heap_used = 0;  // the same on the heap
  Records records;
};

/// A device's copy of a variable.
struct VariableCopy {
  std::uintptr_t variable, copy;
  std::size_t bytes;
  std::vector<std::uint8_t> shown;  // what the running kernel found
};

struct State {
  std::array<Arena, kMostDevices> devices;  // as many as there are
  Arena open;
  std::size_t capacity = 0;  // of each device
  std::uint64_t serials = 0;
  bool closed = true;  // pages of the device arena are inaccessible now
  bool always_close = false;
  bool addresses_only = false;
  std::size_t pages_left = 0;  // that kernels may still touch of such memory
  int closings = 0;
  std::size_t pages_closed = 0;
  std::vector<Allocation> variables;                                    // by address
  std::map<std::uintptr_t, std::vector<std::uint8_t>> first_values;     // of variables that don't begin as zeros
  std::array<std::vector<VariableCopy>, kMostDevices> variable_copies;  // of those devices that have run something
  bool hides_variables = false;
  std::map<std::uintptr_t, std::vector<std::uint8_t>> hidden;  // values of variables, while host code runs
  std::vector<Allocation> registered;                          // host memory of the program's own, by address
  // The last allocation met at addresses of each 4 KB page, modulo the table's size. A find() of the access hook
  // mostly ends here.
  std::array<const Allocation*, 1024> recent{};
};

State& state() {
  static State* state = for_ever<State>();  // never destroyed: programs free device memory in their own destructors
  return *state;
}

const Allocation*& recent(std::uintptr_t address) { return state().recent[(address >> 12) % state().recent.size()]; }

void forget_recent() { state().recent.fill(nullptr); }

template <class Function>
void each_device(Function f) {
  for (int i = 0; i < device_count(); ++i) f(state().devices[static_cast<std::size_t>(i)]);
}

/// Those of the devices, and the host's last.
std::vector<Arena*> arenas() {
  std::vector<Arena*> all;
  for (int i = 0; i < device_count(); ++i) all.push_back(&state().devices[static_cast<std::size_t>(i)]);
  all.push_back(&state().open);
  return all;
}

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

constexpr std::size_t kLargePage = std::size_t{2} << 20;

/// The large pages of the device arenas, and which of them have been given.
std::vector<bool>& large_pages() {
  static auto& given = *for_ever<std::vector<bool>>();
  return given;
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
  if (last > first && last - first >= Pattern::kBytes && Pattern::fill(first, last)) {
    std::memset(bytes_at(begin), 0xFF, first - begin);
    std::memset(bytes_at(last), 0xFF, end - last);
  } else {
    std::memset(bytes_at(begin), 0xFF, bytes);
  }
  // Shadow bytes at the edges belong to this allocation alone: it starts aligned, and red zones follow.
  const auto shadow = reinterpret_cast<std::uintptr_t>(written_shadow) + (begin - device_arena.begin) / 8;
  zero_pages(shadow, shadow + (bytes + 7) / 8);
}

Arena* arena_of(std::uintptr_t address) {
  if (device_arena.contains(address)) return &state().devices[(address - device_arena.begin) / open_arena.bytes];
  if (open_arena.contains(address)) return &state().open;
  return nullptr;
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

const Allocation* find_in(const std::vector<Allocation>& sorted, std::uintptr_t address) {
  auto after = std::upper_bound(sorted.begin(), sorted.end(), address,
                                [](std::uintptr_t a, const Allocation& entry) { return a < entry.begin; });
  if (after == sorted.begin()) return nullptr;
  --after;
  return after->contains(address) ? &*after : nullptr;
}

void insert_sorted(std::vector<Allocation>& sorted, const Allocation& entry) {
  forget_recent();
  sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), entry,
                                 [](const Allocation& a, const Allocation& b) { return a.begin < b.begin; }),
                entry);
}

}  // namespace

// ---------------------------------------------------------------- allocating

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

// ---------------------------------------------------------------- looking up

const Allocation* find(std::uintptr_t address) {
  const Allocation*& last = recent(address);
  if (last != nullptr && last->contains(address)) return last;
  const Allocation* found = nullptr;
  if (Arena* arena = arena_of(address)) {
    const auto after = arena->records.upper_bound(address);
    if (after != arena->records.begin() && std::prev(after)->second.contains(address)) {
      found = &std::prev(after)->second;
    }
  } else {
    found = find_in(state().variables, address);
    if (found == nullptr) found = find_in(state().registered, address);
  }
  if (found != nullptr) last = found;
  return found;
}

const Allocation* nearest(std::uintptr_t address) {
  const Arena* arena = arena_of(address);
  if (arena == nullptr || arena->records.empty()) return nullptr;
  const auto after = arena->records.upper_bound(address);
  if (after == arena->records.begin()) return &after->second;
  const Allocation& before = std::prev(after)->second;
  if (before.contains(address) || after == arena->records.end()) return &before;
  return address - before.end() < after->first - address ? &before : &after->second;
}

std::vector<const Allocation*> live_allocations() {
  std::vector<const Allocation*> live;
  for (const Arena* arena : arenas()) {
    for (const auto& [begin, record] : arena->records) {
      if (record.live && record.kind != Kind::variable) live.push_back(&record);
    }
  }
  std::sort(live.begin(), live.end(), [](auto* a, auto* b) { return a->serial < b->serial; });
  return live;
}

std::string on_which_device(const Allocation& allocation) {
  if (!several_devices() || !device_arena.contains(allocation.begin)) return "";
  return " on device " + std::to_string(allocation.device);
}

std::string at_or_by(const void* site) {
  const std::string place = describe_site(site);
  return place.find("include/thrust/") != std::string::npos ? " by Thrust" : " at " + place;
}

std::string describe(const Allocation& allocation) {
  const std::string size = std::to_string(allocation.bytes) + "-byte ";
  if (allocation.kind == Kind::variable) {
    const char* space = allocation.space == Space::constant  ? "__constant__"
                        : allocation.space == Space::managed ? "__managed__"
                                                             : "__device__";
    return "the " + size + space + " variable " + (allocation.name ? allocation.name : "");
  }
  static constexpr const char* kinds[] = {"device", "managed", "pinned host", "registered host"};
  const char* kind = allocation.heap ? "device heap" : kinds[static_cast<int>(allocation.kind)];
  std::string text = "the " + size + kind + " allocation" + on_which_device(allocation);
  if (allocation.name)
    text += std::string(" ") + allocation.name;
  else if (allocation.call_site)
    text += " made" + at_or_by(allocation.call_site);
  if (!allocation.live) {
    text += allocation.freed_by_reset ? ", freed by cudaDeviceReset" : ", freed";
    if (allocation.free_site) text += at_or_by(allocation.free_site);
  }
  return text;
}

std::string describe(std::uintptr_t address) {
  const Allocation* near = find(address);
  if (near == nullptr) near = nearest(address);
  if (near == nullptr) return "no allocation";
  const auto count = [](std::uintptr_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte " : " bytes "); };
  if (near->contains(address)) return count(address - near->begin) + "into " + describe(*near);
  if (address >= near->end()) return count(address - near->end()) + "past the end of " + describe(*near);
  return count(near->begin - address) + "before " + describe(*near);
}

// ---------------------------------------------------------------- opening device memory

namespace {

/// Whether it may be written: constants are compiled into read-only pages.
bool is_writable(std::uintptr_t address) {
  const auto is_there = [=](const LoadedPiece& piece) { return piece.contains(address); };
  const auto is_read_only = [&](const LoadedPiece& piece) { return is_there(piece) && !piece.writable; };
  return any_loaded_piece(is_there) && !any_loaded_piece(is_read_only);
}

void hide_variables() {
  State& s = state();
  std::uintptr_t begin = ~std::uintptr_t{}, end = 0;
  for (const Allocation& v : s.variables) {
    if (v.space == Space::managed || v.bytes == 0 || s.hidden.count(v.begin) || !is_writable(v.begin)) continue;
    s.hidden[v.begin].assign(bytes_at(v.begin), bytes_at(v.end()));
    std::memset(bytes_at(v.begin), 0xFF, v.bytes);
  }
  for (const auto& [at, values] : s.hidden) begin = std::min(begin, at), end = std::max(end, at + values.size());
  hidden_variables = s.hidden.empty() ? Range{} : Range{begin, end - begin};
  watch(hidden_variables);
}

void show_variables() {
  State& s = state();
  for (const auto& [at, values] : s.hidden) std::memcpy(bytes_at(at), values.data(), values.size());
  s.hidden.clear();
  hidden_variables = {};
}

}  // namespace

bool is_hidden(std::uintptr_t address) {
  const auto& hidden = state().hidden;
  const auto after = hidden.upper_bound(address);
  return after != hidden.begin() && address - std::prev(after)->first < std::prev(after)->second.size();
}

void open_device_memory() {
  State& s = state();
  if (opened++ > 0) return;
  if (s.hides_variables) show_variables();
  if (!s.closed) return;
  each_device([](Arena& arena) { protect(arena.range.begin, arena.committed, kOpen); });
  s.closed = false;
}

void close_device_memory() {
  State& s = state();
  if (--opened > 0) return;
  if (s.hides_variables) hide_variables();
  std::size_t pages = 0;
  each_device([&](Arena& arena) { pages += (arena.committed - arena.range.begin) / page_size(); });
  if (!s.always_close && s.closings >= kCertainClosings && s.pages_closed + pages > kPagesToClose) return;
  ++s.closings;
  s.pages_closed += pages;
  each_device([](Arena& arena) { protect(arena.range.begin, arena.committed, kClosed); });
  s.closed = true;
}

void always_close_device_memory() {
  state().always_close = true;
  const DeviceMemoryOpen closes_at_its_end;
}

void distrust_host_code() {
  state().hides_variables = true;
  always_close_device_memory();
}

namespace {

const Variables* own_variables = nullptr;
void (*end_of_trust)() = nullptr;
// Variables of shared libraries of which the program has the only copy, such as std::cout.
std::array<Variables, 64> copied;

#if defined(__linux__) && defined(__x86_64__)

/// The program's writable memory, but for what the linker has made read-only again; and what it has copied there.
int find_guarded(dl_phdr_info* info, std::size_t, void*) {
  std::uintptr_t begin = 0, end = 0;
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    const std::uintptr_t at = info->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && (part.p_flags & PF_W)) begin = at, end = at + part.p_memsz;
    if (part.p_type == PT_GNU_RELRO && at + part.p_memsz > begin) begin = at + part.p_memsz;
    if (part.p_type == PT_DYNAMIC) entry = reinterpret_cast<const ElfW(Dyn)*>(at);
  }
  guarded = {begin, end > begin ? end - begin : 0};
  watch(guarded);
  const ElfW(Rela)* relocations = nullptr;
  const ElfW(Sym)* symbols = nullptr;
  std::size_t bytes = 0;
  for (; entry && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_RELA) relocations = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_RELASZ) bytes = entry->d_un.d_val;
  }
  std::size_t n = 0;
  for (std::size_t i = 0; relocations && symbols && i < bytes / sizeof *relocations && n + 1 < copied.size(); ++i)
    if (ELF64_R_TYPE(relocations[i].r_info) == R_X86_64_COPY) {
      const std::uintptr_t at = info->dlpi_addr + relocations[i].r_offset;
      copied[n++] = {at, at + symbols[ELF64_R_SYM(relocations[i].r_info)].st_size};
    }
  return 1;  // the first is the program itself
}

#endif

bool lie_in(const Variables* of, std::uintptr_t address, std::size_t bytes) {
  for (; of->begin != 0; ++of)
    if (of->begin <= address && address < of->end && bytes <= of->end - address) return true;
  return false;
}

}  // namespace

void guard_variables(const Variables* own, void (*end)()) {
  own_variables = own;
  end_of_trust = end;
#if defined(__linux__) && defined(__x86_64__)
  dl_iterate_phdr(find_guarded, nullptr);
#endif
}

bool is_linked_in(const void* variable) {
  const auto address = reinterpret_cast<std::uintptr_t>(variable);
  return guarded.begin <= address && address < guarded.begin + guarded.bytes && !lie_in(copied.data(), address, 1);
}

void look_at_guarded(std::uintptr_t address, std::size_t bytes) {
  if (!lie_in(own_variables, address, bytes) && !lie_in(copied.data(), address, bytes)) end_of_trust();
}

void host_access(std::uintptr_t address, std::size_t bytes, void* return_address) {
  const Allocation* at = find(address);
  if (const void* const place = place_in_program(return_address)) return_address = const_cast<void*>(place);
  if (at != nullptr && at->live && at->kind == Kind::host)
    report_finding("host-access",
                   "host code reads or writes " + describe(address) +
                       ": work in streams brings this pinned memory and takes it away, and the host doesn't know when; "
                       "leave it to copies",
                   return_address);
  else if (at != nullptr && at->name != nullptr && at->live && bytes > 0 && (address - at->begin) % bytes == 0)
    report_finding("host-access",
                   std::string(at->name) + "[" + std::to_string((address - at->begin) / bytes) +
                       "] in host code: this pointer is the GPU's, and only kernels can follow it; copy what it points "
                       "to with cudaMemcpy first",
                   return_address);
  else
    report_finding("host-access",
                   "host code read or wrote device memory (" + describe(address) + "); copy it with cudaMemcpy first",
                   return_address);
  std::exit(1);
}

void host_access_to_variable(std::uintptr_t address, void* return_address) {
  const Allocation* found = find(address);
  if (found == nullptr || found->kind != Kind::variable || found->space == Space::managed) return;
  ++changes;                          // it may be a write
  const DeviceMemoryOpen once(true);  // what looks up lines is no access of the program's
  report_finding("host-access",
                 "host code read or wrote " + describe(*found) +
                     ", which a GPU keeps in its own memory; copy it with cudaMemcpyToSymbol or cudaMemcpyFromSymbol",
                 return_address);
}

// ---------------------------------------------------------------- what has been written

namespace {

/// Calls `visit(shadow byte, mask)` for each shadow byte that stands for some of the bytes, until it returns false.
template <class Visit>
bool each_shadow_byte(std::uintptr_t address, std::size_t bytes, Visit visit) {
  std::uintptr_t offset = address - device_arena.begin;
  while (bytes > 0) {
    const unsigned first = offset & 7;
    const std::size_t here = std::min<std::size_t>(8 - first, bytes);
    const unsigned mask = ((1u << here) - 1) << first;
    if (!visit(written_shadow[offset >> 3], static_cast<std::uint8_t>(mask))) return false;
    offset += here;
    bytes -= here;
  }
  return true;
}

void set_written(std::uintptr_t address, bool written) {
  const std::uintptr_t offset = address - device_arena.begin;
  const auto bit = static_cast<std::uint8_t>(1u << (offset & 7));
  std::uint8_t& shadow = written_shadow[offset >> 3];
  shadow = static_cast<std::uint8_t>(written ? shadow | bit : shadow & ~bit);
}

}  // namespace

void mark_written_range(std::uintptr_t address, std::size_t bytes) {
  if (!device_arena.contains(address) || bytes == 0) return;
  const std::uintptr_t begin = round_up(address, 8);
  const std::uintptr_t end = round_down(address + bytes, 8);
  const auto mark = [](std::uint8_t& shadow, std::uint8_t mask) {
    shadow |= mask;
    return true;
  };
  if (begin >= end) {
    each_shadow_byte(address, bytes, mark);
    return;
  }
  each_shadow_byte(address, begin - address, mark);
  std::memset(written_shadow + (begin - device_arena.begin) / 8, 0xFF, (end - begin) / 8);
  each_shadow_byte(end, address + bytes - end, mark);
}

bool is_written_range(std::uintptr_t address, std::size_t bytes) {
  if (!device_arena.contains(address)) return true;
  return each_shadow_byte(address, bytes,
                          [](std::uint8_t shadow, std::uint8_t mask) { return (shadow & mask) == mask; });
}

void give_large_pages(std::uintptr_t address, std::size_t bytes) {
  if (bytes < kLargePage || !device_arena.contains(address)) return;
  std::vector<bool>& given = large_pages();
  if (given.empty()) given.resize(device_arena.bytes / kLargePage);
  std::size_t page = (address - device_arena.begin + kLargePage - 1) / kLargePage;
  const std::size_t end = (address + bytes - device_arena.begin) / kLargePage;
  while (page < end) {
    std::size_t next = page;
    while (next < end && !given[next]) given[next++] = true;
    if (next != page) {
      std::uint8_t* const at = bytes_at(device_arena.begin + page * kLargePage);
      const std::size_t size = (next - page) * kLargePage;
      if (mmap(at, size, kOpen, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        give_up("simulator: mmap");
#ifdef MADV_HUGEPAGE
      madvise(at, size, MADV_HUGEPAGE);
#endif
    }
    page = next + 1;
  }
}

void watch(const Range& range) {
  if (range.bytes == 0) return;
  const std::uintptr_t last = (range.begin + range.bytes - 1) >> kWatchedShift;
  for (std::uintptr_t i = range.begin >> kWatchedShift; i <= last; ++i) watched[i % kWatchedStretches] = true;
  inline_cache::empty(inline_cache::Until::host_is_watched);
}

bool is_all_written(std::uintptr_t begin) {
  const Allocation* a = find(begin);
  if (a == nullptr || !a->live) return false;
  if (!a->all_written) {
    const std::uint8_t* const shadow = written_shadow + (a->begin - device_arena.begin) / 8;
    const std::size_t whole = a->bytes / 8;
    a->all_written = std::all_of(shadow, shadow + whole, [](std::uint8_t byte) { return byte == 0xFF; }) &&
                     is_written_range(a->begin + whole * 8, a->bytes % 8);
  }
  return a->all_written;
}

Range written_round(std::uintptr_t address, const Range& inside) {
  constexpr std::ptrdiff_t kFarthest = 1 << 15;  // shadow bytes, in either direction
  const std::uintptr_t begin = round_up(inside.begin, 8);
  if (address < begin) return {};
  const std::uint8_t* const first = written_shadow + (begin - device_arena.begin) / 8;
  const std::uint8_t* const at = written_shadow + (address - device_arena.begin) / 8;
  const std::uint8_t* const end = first + (inside.begin + inside.bytes - begin) / 8;
  const auto is_written = [](std::uint8_t byte) { return byte == 0xFF; };
  const std::uint8_t* from = at;
  while (from > first && at - from < kFarthest && is_written(from[-1])) --from;
  const std::uint8_t* const to = std::find_if_not(at, std::min(end, at + kFarthest), is_written);
  if (to <= at) return {};
  return {begin + static_cast<std::size_t>(from - first) * 8, static_cast<std::size_t>(to - from) * 8};
}

std::size_t written_bytes() {
  std::size_t bytes = 0;
  each_device([&](const Arena& arena) {
    for (const auto& [begin, record] : arena.records) {
      if (!record.live) continue;
      const std::uint8_t* const shadow = written_shadow + (begin - device_arena.begin) / 8;
      for (std::size_t i = 0; i < (record.bytes + 7) / 8; ++i) bytes += unsigned(std::popcount(shadow[i]));
    }
  });
  return bytes;
}

void copy_written(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) {
  if (!device_arena.contains(to) || bytes == 0) return;
  if (!device_arena.contains(from)) return mark_written_range(to, bytes);
  if (const Allocation* a = find(to)) a->all_written = false;
  const auto copy_bits = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) set_written(to + i, is_written(from + i, 1));
  };
  if (((to ^ from) & 7) != 0) return copy_bits(0, bytes);
  // The shadow bytes line up: whole ones are copied, and single bits at the two ends.
  const std::size_t head = std::min<std::size_t>((8 - (to & 7)) & 7, bytes);
  const std::size_t whole = (bytes - head) / 8;
  copy_bits(0, head);
  std::memmove(written_shadow + (to + head - device_arena.begin) / 8,
               written_shadow + (from + head - device_arena.begin) / 8, whole);
  copy_bits(head + 8 * whole, bytes);
}

// ---------------------------------------------------------------- variables

const std::vector<Allocation>& variables() { return state().variables; }

namespace {

/// Gives the bytes at `place` the value that the variable's definition gives it.
void begin_as_defined(const Allocation& variable, std::uintptr_t place) {
  const auto values = state().first_values.find(variable.begin);
  if (values == state().first_values.end())
    std::memset(bytes_at(place), 0, variable.bytes);
  else
    std::memcpy(bytes_at(place), values->second.data(), variable.bytes);
}

std::vector<VariableCopy>& copies_of(int device) {
  State& s = state();
  auto& copies = s.variable_copies[static_cast<std::size_t>(device)];
  if (!copies.empty()) return copies;
  const OnDevice here(device);
  const DeviceMemoryOpen open;
  for (const Allocation& v : s.variables) {
    if (v.space == Space::managed || v.bytes == 0) continue;
    void* const copy = allocate(v.bytes, Kind::variable);
    if (copy == nullptr) give_up("simulator: no memory for a device's variables");
    const auto begin = reinterpret_cast<std::uintptr_t>(copy);
    Allocation& record = arena_of(begin)->records.at(begin);
    record.name = v.name;
    record.space = v.space;
    begin_as_defined(v, begin);
    mark_written(begin, v.bytes);
    copies.push_back({v.begin, begin, v.bytes, {}});
  }
  return copies;
}

}  // namespace

void begin_variables_anew(int device) {
  if (several_devices()) return state().variable_copies[static_cast<std::size_t>(device)].clear();
  const DeviceMemoryOpen open;
  for (const Allocation& v : state().variables)
    if (v.space != Space::managed && v.bytes != 0 && is_writable(v.begin)) begin_as_defined(v, v.begin);
}

std::uintptr_t place_of(const Allocation& variable, int device) {
  return variable.begin + (variable.space == Space::managed ? 0 : distance_to_copy(variable.begin, device));
}

std::uintptr_t distance_to_copy(std::uintptr_t address, int device) {
  if (!several_devices()) return 0;
  for (const VariableCopy& v : copies_of(device))
    if (address - v.variable < v.bytes) return v.copy - v.variable;
  return 0;
}

void show_variables_of(int device) {
  if (!several_devices()) return;
  for (VariableCopy& v : copies_of(device)) {
    v.shown.assign(bytes_at(v.copy), bytes_at(v.copy + v.bytes));
    if (std::memcmp(bytes_at(v.variable), v.shown.data(), v.bytes) != 0 && is_writable(v.variable))
      std::memcpy(bytes_at(v.variable), v.shown.data(), v.bytes);
  }
}

// Byte by byte: a kernel may have written to the copy, too, by an address from cudaGetSymbolAddress.
void keep_variables_of(int device) {
  if (!several_devices()) return;
  for (const VariableCopy& v : copies_of(device)) {
    if (std::memcmp(bytes_at(v.variable), v.shown.data(), v.bytes) == 0) continue;
    for (std::size_t i = 0; i < v.bytes; ++i)
      if (bytes_at(v.variable)[i] != v.shown[i]) bytes_at(v.copy)[i] = bytes_at(v.variable)[i];
  }
}

// ---------------------------------------------------------------- faults

namespace {

KernelFault kernel_fault = nullptr;
struct sigaction earlier_segv, earlier_bus;
std::uintptr_t host_stack = 0;  // an address of its first frames; 0: faults of host code are not reported

[[noreturn]] void report_host_fault(std::uintptr_t address, void* site) {
  constexpr std::uintptr_t kMostStack = std::uintptr_t{256} << 20;
  const bool stack = address < host_stack && host_stack - address < kMostStack;
  char where[32];
  std::snprintf(where, sizeof where, "0x%llx", static_cast<unsigned long long>(address));
  const void* const line = place_in_program(site ? static_cast<char*>(site) + 1 : nullptr);
  report_finding("host-fault",
                 stack ? "host code's stack is full: its local arrays are too large or its recursion is too deep"
                 : address < 4096
                     ? "host code follows a null pointer"
                     : std::string("host code reads or writes address ") + where + ", where it has no memory",
                 const_cast<void*>(line));
  std::exit(1);
}

/// `site`: behind the instruction.
[[noreturn]] void divided_by_zero(void* site) {
  Finding f;
  f.code = "division-by-zero";
  f.message = in_kernel()
                  ? "this thread divides an integer by zero (/ or %): a GPU gives a meaningless number, here the "
                    "program ends"
                  : "host code divides an integer by zero (/ or %), which ends the program";
  f.site = site;
  if (in_kernel()) f.threads = describe_thread(*current_lane);
  observed_lane = nullptr;
  report_finding(std::move(f));
  std::exit(1);
}

/// An integer division by zero, which is a signal on x86-64.
void on_division(int signal_number, siginfo_t* info, void*) {
  if (info->si_code == FPE_INTDIV) divided_by_zero(static_cast<char*>(info->si_addr) + 1);
  signal(signal_number, SIG_DFL);  // happens again
}

/// A kernel has touched a page of memory that has addresses alone. False when it's something else.
bool give_page(std::uintptr_t address) {
  const Unobserved guard;
  State& s = state();
  if (s.pages_left == 0 || !device_arena.contains(address)) return false;
  if (--s.pages_left == 0) std::exit(1);
  const std::uintptr_t page = round_down(address, page_size());
  protect(page, page + page_size(), kOpen);
  return true;
}

/// Runs on its own stack. Looking up lines and exiting are not async-signal-safe. Nearly always the fault is the program's own plain load
/// or store, so that no lock of the C library is held; where the C library itself was given a device pointer, as by fwrite(), a lock may be
/// held, but not one that is needed here.
void on_fault(int signal_number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  void* const site = interrupted_instruction(context);
  if (in_kernel() && give_page(address)) return;
  if (in_kernel() && kernel_fault != nullptr) kernel_fault(address, site);

  if (!in_kernel() && arena_of(address) != nullptr) {
    // Sites are return addresses, which lie behind the instruction that they stand for.
    void* const after = site ? static_cast<char*>(site) + 1 : nullptr;
    if (device_arena.contains(address)) host_access(address, 0, const_cast<void*>(place_in_program(after)));
    report_finding("host-use-after-free", "host code used memory that is not allocated (" + describe(address) + ")",
                   after);
    std::exit(1);
  }
  if (!in_kernel() && host_stack != 0) report_host_fault(address, site);
  // Not ours: the fault happens again under the handler that was there before.
  sigaction(signal_number, signal_number == SIGBUS ? &earlier_bus : &earlier_segv, nullptr);
}

}  // namespace

// AArch64 divides by zero without a word: there simcc puts a call in front of divisions (rewriter/divisions.hpp).
extern "C" __attribute__((visibility("default"))) void tilewise_divided_by_zero() {
  divided_by_zero(__builtin_return_address(0));
}

void set_kernel_fault(KernelFault handler) { kernel_fault = handler; }

void install_fault_handler() {
  static std::uint8_t* const stack = new std::uint8_t[std::size_t(256) << 10];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = std::size_t(256) << 10;
  sigaltstack(&alternative, nullptr);

  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  struct sigaction before {};
  for (const int number : {SIGSEGV, SIGBUS}) {
    sigaction(number, &action, &before);
    const bool ours = (before.sa_flags & SA_SIGINFO) && before.sa_sigaction == on_fault;
    if (!ours) (number == SIGBUS ? earlier_bus : earlier_segv) = before;
  }
  sigaction(SIGFPE, nullptr, &before);
  if (before.sa_handler != SIG_DFL) return;  // the program's own, or ours
  action.sa_sigaction = on_division;
  sigaction(SIGFPE, &action, nullptr);
}

void report_host_faults() {
  const char here = 0;
  host_stack = reinterpret_cast<std::uintptr_t>(&here) + (std::uintptr_t{64} << 10);
  install_fault_handler();
}

}  // namespace tilewise::sim::memory

namespace tilewise::sim {

bool register_variable(const void* address, std::size_t bytes, const char* name, Space space) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  auto& variables = memory::state().variables;
  for (const memory::Allocation& known : variables) {
    if (known.begin == begin) return true;  // an inline variable, announced by several translation units
  }
  memory::Allocation entry;
  entry.begin = begin;
  entry.bytes = bytes;
  entry.kind = memory::Kind::variable;
  entry.name = name;
  entry.space = space;
  memory::insert_sorted(variables, entry);
  const auto* const values = static_cast<const std::uint8_t*>(address);
  if (space != Space::managed && std::any_of(values, values + bytes, [](std::uint8_t b) { return b != 0; }))
    memory::state().first_values[begin].assign(values, values + bytes);
  if (space != Space::managed) {
    memory::watch({begin, bytes});
    memory::Range& all = memory::device_variables;
    const std::uintptr_t first = all.bytes == 0 ? begin : std::min(all.begin, begin);
    all.bytes = std::max(all.begin + all.bytes, begin + bytes) - first;
    all.begin = first;
  }
  return true;
}

void host_address_used(const void* address) {
  const memory::Allocation* found = memory::find(reinterpret_cast<std::uintptr_t>(address));
  if (found == nullptr || found->kind != memory::Kind::variable || found->space == Space::managed || in_kernel())
    return;
  report_finding("host-pointer",
                 "the name of " + memory::describe(*found) +
                     " is a host address here, where a device address has to be; cudaGetSymbolAddress gives that, and "
                     "cudaMemcpyToSymbol takes the name",
                 __builtin_return_address(0));
}

void name_allocation(const void* pointer, const char* name) {
  const memory::Allocation* found = memory::find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found != nullptr && found->kind != memory::Kind::variable) const_cast<memory::Allocation*>(found)->name = name;
}

}  // namespace tilewise::sim
