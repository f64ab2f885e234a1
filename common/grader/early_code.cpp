#include "early_code.hpp"

#if defined(__linux__)
#include <elf.h>
#include <link.h>

#include <cstring>
#include <string_view>
#endif

#include "tools.hpp"

namespace tilewise::grader {

#if defined(__linux__)

namespace {

constexpr unsigned kResolverSymbol = STT_GNU_IFUNC;
#if defined(__x86_64__)
constexpr unsigned kResolverRelocation = R_X86_64_IRELATIVE;
#elif defined(__aarch64__)
constexpr unsigned kResolverRelocation = R_AARCH64_IRELATIVE;
#else
constexpr unsigned kResolverRelocation = ~0u;
#endif

/// Whether f(entry) for one of a section's entries.
template <class Entry, class Function>
bool any(std::string_view image, const ElfW(Shdr) & section, Function f) {
  for (std::size_t at = 0; at + sizeof(Entry) <= section.sh_size; at += sizeof(Entry)) {
    if (section.sh_offset + at + sizeof(Entry) > image.size()) return false;
    Entry entry;
    std::memcpy(&entry, image.data() + section.sh_offset + at, sizeof entry);
    if (f(entry)) return true;
  }
  return false;
}

}  // namespace

bool has_resolvers(const std::string& program) {
  const std::string image = read_file(program);
  ElfW(Ehdr) header;
  if (image.size() < sizeof header) return false;
  std::memcpy(&header, image.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    ElfW(Shdr) section;
    const std::size_t at = header.e_shoff + i * sizeof section;
    if (at + sizeof section > image.size()) return false;
    std::memcpy(&section, image.data() + at, sizeof section);
    const auto is_resolver = [](const ElfW(Sym) & symbol) {
      return (symbol.st_info & 0xf) == kResolverSymbol && symbol.st_shndx != SHN_UNDEF;
    };
    const auto asks_one = [](const auto& relocation) {
      return static_cast<unsigned>(relocation.r_info & 0xffffffffu) == kResolverRelocation;
    };
    if ((section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) && any<ElfW(Sym)>(image, section, is_resolver))
      return true;
    if (section.sh_type == SHT_RELA && any<ElfW(Rela)>(image, section, asks_one)) return true;
    if (section.sh_type == SHT_REL && any<ElfW(Rel)>(image, section, asks_one)) return true;
  }
  return false;
}

#else

bool has_resolvers(const std::string&) { return false; }

#endif

}  // namespace tilewise::grader
