#include "indirect_calls.hpp"

#include <string_view>

#include "assembly.hpp"

namespace tilewise::sim {

std::string look_at_indirect_calls(const std::string& assembly) {
#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__linux__)
  std::string out;
  out.reserve(assembly.size() + assembly.size() / 64);
  for_each_line(assembly, [&](std::string_view line, std::size_t begin, std::size_t end) {
    const std::string_view operand = indirect_call(without_comment(without_blanks(line)));
    const Instruction instruction = parse(line);
    if (instruction.mnemonic == "blr")
      out += "\tmov\tx9, " + std::string(instruction.operands) + "\n\tbl\ttilewise_indirect_call\n";
    else if (operand.empty())
      out.append(assembly, begin, end - begin);
    else
      out += "\tmovq\t" + std::string(operand) + ", %r11\n\tcall\ttilewise_indirect_call@PLT\n";
  });
  return out;
#else
  return assembly;
#endif
}

}  // namespace tilewise::sim
