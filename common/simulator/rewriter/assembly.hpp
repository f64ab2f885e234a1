// Assembly as text, as the compilers write it for x86-64 (AT&T) and AArch64: its lines, and what a line does. Which of the two it is, its
// instructions say: no line means one thing here and another there.
#pragma once

#include <algorithm>
#include <iterator>
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

/// Whether a program's assembly is AArch64's, which calls by `bl`.
inline bool is_aarch64(std::string_view assembly) { return assembly.find("\tbl\t") != std::string_view::npos; }

/// A jump inside a function, or to another one; not a return. g++ writes "bne" for AArch64, and clang "b.ne".
inline bool is_jump(std::string_view mnemonic) {
  static constexpr std::string_view kConditions[] = {"eq", "ne", "cs", "hs", "cc", "lo", "mi", "pl",
                                                     "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"};
  if (mnemonic.starts_with('j')) return true;
  if (mnemonic == "cbz" || mnemonic == "cbnz" || mnemonic == "tbz" || mnemonic == "tbnz") return true;
  if (!mnemonic.starts_with('b')) return false;
  const std::string_view rest = mnemonic.substr(mnemonic.starts_with("b.") ? 2 : 1);
  return rest.empty() || rest == "r" ||
         std::find(std::begin(kConditions), std::end(kConditions), rest) != std::end(kConditions);
}

/// The label in "jne .L2" and in "tbz x0, 3, .L2": the last operand.
inline std::string_view jump_target(const Instruction& instruction) {
  if (!is_jump(instruction.mnemonic)) return {};
  std::string_view target = instruction.operands;
  if (const std::size_t comma = target.rfind(','); comma != std::string_view::npos) target.remove_prefix(comma + 1);
  target.remove_prefix(std::min(target.find_first_not_of(" \t"), target.size()));
  return target.substr(0, target.find_first_of(" \t#"));
}

/// The function that `call` goes to, without decoration: "fmaf" of "fmaf@PLT" and "_fmaf".
inline std::string_view callee(const Instruction& instruction) {
  if (instruction.mnemonic != "call" && instruction.mnemonic != "callq" && instruction.mnemonic != "bl") return {};
  std::string_view name = instruction.operands.substr(0, instruction.operands.find_first_of("@ \t#"));
#ifdef __APPLE__
  if (name.starts_with('_')) name.remove_prefix(1);
#endif
  return name;
}

inline std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

/// Without what clang says of an instruction after it: "call *16(%rsp)  # 8-byte Folded Reload". A # in a name stands in quotes.
inline std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '\\')
      ++i;
    else if (line[i] == '#' && !quoted)
      return without_blanks(line.substr(0, i));
  }
  return line;
}

/// The operand in "call *operand". What the linker puts into a table that nobody can write needs no look.
inline std::string_view indirect_call(std::string_view line) {
  for (const std::string_view call : {std::string_view("callq"), std::string_view("call")}) {
    if (line.compare(0, call.size(), call) != 0) continue;
    const std::string_view operand = without_blanks(line.substr(call.size()));
    if (operand.empty() || operand[0] != '*' || operand.find("@GOT") != std::string_view::npos) return {};
    return operand.substr(1);
  }
  return {};
}

/// each(line, begin, end): the lines, one after the other, with where each begins and ends (after its newline).
template <class Each>
void for_each_line(const std::string& assembly, Each each) {
  for (std::size_t begin = 0; begin < assembly.size();) {
    const std::size_t newline = std::min(assembly.find('\n', begin), assembly.size());
    each(std::string_view(assembly.data() + begin, newline - begin), begin, std::min(newline + 1, assembly.size()));
    begin = newline + 1;
  }
}

}  // namespace tilewise::sim
