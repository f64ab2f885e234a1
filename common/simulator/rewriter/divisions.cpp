#include "divisions.hpp"

#include <string_view>

#include "assembly.hpp"

namespace tilewise::sim {

std::string look_at_divisions(const std::string& assembly) {
  std::string out;
  out.reserve(assembly.size() + assembly.size() / 64);
  for_each_line(assembly, [&](std::string_view line, std::size_t begin, std::size_t end) {
    const Instruction instruction = parse(line);
    const std::size_t comma = instruction.operands.rfind(',');
    if ((instruction.mnemonic == "sdiv" || instruction.mnemonic == "udiv") && comma != std::string_view::npos)
      out += "\tcbnz\t" + std::string(without_blanks(instruction.operands.substr(comma + 1))) +
             ", 1f\n\tbl\ttilewise_divided_by_zero\n1:\n";
    out.append(assembly, begin, end - begin);
  });
  return out;
}

}  // namespace tilewise::sim
