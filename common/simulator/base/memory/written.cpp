// Which bytes of device memory have been written, and which have large pages.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <vector>

#include "base/inline_cache.hpp"
#include "base/memory/pages.hpp"
#include "base/memory/state.hpp"

namespace tilewise::sim::memory {

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

}  // namespace tilewise::sim::memory
