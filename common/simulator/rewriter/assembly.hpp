// Assembly as text, as the compilers write it: its lines, and what a line does.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace tilewise::sim {

/// The mnemonic and the rest of an instruction; labels and directives give an empty mnemonic.
struct Instruction {
  std::string_view mnemonic, operands;
};

inline Instruction parse(std::string_view line) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  std::size_t begin = 0;
  while (begin < line.size() && blank(line[begin])) ++begin;
  if (begin == 0 || begin == line.size() || line[begin] == '.' || line[begin] == '#') return {};
  std::size_t end = begin;
  while (end < line.size() && !blank(line[end])) ++end;
  std::size_t rest = end;
  while (rest < line.size() && blank(line[rest])) ++rest;
  return {line.substr(begin, end - begin), line.substr(rest)};
}

/// The function that `call` goes to, without decoration: "fmaf" of "fmaf@PLT" and "_fmaf".
inline std::string_view callee(const Instruction& instruction) {
  if (instruction.mnemonic != "call" && instruction.mnemonic != "callq") return {};
  std::string_view name = instruction.operands.substr(0, instruction.operands.find_first_of("@ \t#"));
#ifdef __APPLE__
  if (name.starts_with('_')) name.remove_prefix(1);
#endif
  return name;
}

/// each(line, begin, end): the lines, one after the other, with where each begins and ends (behind its newline).
template <class Each>
void for_each_line(const std::string& assembly, Each each) {
  for (std::size_t begin = 0; begin < assembly.size();) {
    const std::size_t newline = std::min(assembly.find('\n', begin), assembly.size());
    each(std::string_view(assembly.data() + begin, newline - begin), begin, std::min(newline + 1, assembly.size()));
    begin = newline + 1;
  }
}

}  // namespace tilewise::sim
