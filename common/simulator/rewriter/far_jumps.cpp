#include "far_jumps.hpp"

#include <string_view>

#include "assembly.hpp"

namespace tilewise::sim {

std::string lengthen_jumps(const std::string& assembly) {
  std::string out;
  out.reserve(assembly.size() + assembly.size() / 64);
  for_each_line(assembly, [&](std::string_view line, std::size_t begin, std::size_t end) {
    const Instruction instruction = parse(line);
    const std::size_t comma = instruction.operands.rfind(',');
    const bool if_zero = instruction.mnemonic == "tbz";
    if ((if_zero || instruction.mnemonic == "tbnz") && comma != std::string_view::npos)
      out += std::string(if_zero ? "\ttbnz\t" : "\ttbz\t") + std::string(instruction.operands.substr(0, comma)) +
             ", 1f\n\tb\t" + std::string(jump_target(instruction)) + "\n1:\n";
    else
      out.append(assembly, begin, end - begin);
  });
  return out;
}

}  // namespace tilewise::sim
