// Variables of the device: what the program defines, and each device's copies where there are several.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/devices.hpp"
#include "base/findings.hpp"
#include "base/memory/pages.hpp"
#include "base/memory/state.hpp"
#include "base/thread.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim::memory {

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
