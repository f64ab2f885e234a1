// What of the program lies where in memory: its pieces as they were loaded, and those of its libraries.
#pragma once

#if defined(__linux__)
#include <link.h>
#endif

#include <cstddef>
#include <cstdint>

namespace tilewise::sim {

struct LoadedPiece {
  std::uintptr_t begin;
  std::size_t bytes;
  bool of_program;  ///< and not of a library
  bool writable;
  bool is_relro;  ///< a part of a writable one that is read-only by now: constants that hold addresses

  bool contains(std::uintptr_t address) const { return address - begin < bytes; }
};

/// Whether `is_it(piece)` is true for one of them, which are shown in order, the program's first. Allocates nothing: handlers of signals
/// may ask. Not on Linux: false.
template <class Predicate>
bool any_loaded_piece(Predicate is_it) {
#if defined(__linux__)
  struct Search {
    Predicate& is_it;
    bool is_program;
  } search{is_it, true};
  const auto look = [](dl_phdr_info* info, std::size_t, void* at) {
    auto& [is_it, is_program] = *static_cast<Search*>(at);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& part = info->dlpi_phdr[i];
      const bool is_relro = part.p_type == PT_GNU_RELRO;
      if (part.p_type != PT_LOAD && !is_relro) continue;
      const bool writable = !is_relro && (part.p_flags & PF_W) != 0;
      if (is_it(LoadedPiece{info->dlpi_addr + part.p_vaddr, part.p_memsz, is_program, writable, is_relro})) return 1;
    }
    is_program = false;
    return 0;
  };
  return dl_iterate_phdr(look, &search) != 0;
#else
  static_cast<void>(is_it);
  return false;
#endif
}

}  // namespace tilewise::sim
