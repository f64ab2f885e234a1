// What lies at an address, and words for it.
#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/memory/state.hpp"
#include "base/symbols.hpp"

namespace tilewise::sim::memory {

namespace {

const Allocation* find_in(const std::vector<Allocation>& sorted, std::uintptr_t address) {
  auto after = std::upper_bound(sorted.begin(), sorted.end(), address,
                                [](std::uintptr_t a, const Allocation& entry) { return a < entry.begin; });
  if (after == sorted.begin()) return nullptr;
  --after;
  return after->contains(address) ? &*after : nullptr;
}

}  // namespace

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

}  // namespace tilewise::sim::memory
