// What host code may touch: device memory is closed to it, and where it isn't trusted, variables are, too.
#if defined(__linux__)
#include <link.h>
#endif

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include "base/findings.hpp"
#include "base/loaded_pieces.hpp"
#include "base/memory/pages.hpp"
#include "base/memory/state.hpp"
#include "base/symbols.hpp"

namespace tilewise::sim::memory {

bool is_writable(std::uintptr_t address) {
  const auto is_there = [=](const LoadedPiece& piece) { return piece.contains(address); };
  const auto is_read_only = [&](const LoadedPiece& piece) { return is_there(piece) && !piece.writable; };
  return any_loaded_piece(is_there) && !any_loaded_piece(is_read_only);
}

namespace {

// Closing device memory is certain this many times, and goes on until this many pages have been closed.
constexpr int kCertainClosings = 8;
constexpr std::size_t kPagesToClose = 1 << 16;

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

}  // namespace tilewise::sim::memory
