// What is known of all memory: the devices' address ranges, the host's, and variables.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/devices.hpp"
#include "base/for_ever.hpp"
#include "base/memory.hpp"

namespace tilewise::sim::memory {

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

[[gnu::visibility("hidden")]] inline State& state() {
  static State* state = for_ever<State>();  // never destroyed: programs free device memory in their own destructors
  return *state;
}

inline const Allocation*& recent(std::uintptr_t address) {
  return state().recent[(address >> 12) % state().recent.size()];
}

inline void forget_recent() { state().recent.fill(nullptr); }

template <class Function>
void each_device(Function f) {
  for (int i = 0; i < device_count(); ++i) f(state().devices[static_cast<std::size_t>(i)]);
}

/// Those of the devices, and the host's last.
std::vector<Arena*> arenas();
/// Where the address lies; null elsewhere.
Arena* arena_of(std::uintptr_t address);

void insert_sorted(std::vector<Allocation>& sorted, const Allocation& entry);

constexpr std::size_t kLargePage = std::size_t{2} << 20;
/// The pages of the device arenas of which each is one large page now.
std::vector<bool>& large_pages();

/// Whether it may be written: constants are compiled into read-only pages.
bool is_writable(std::uintptr_t address);

}  // namespace tilewise::sim::memory
