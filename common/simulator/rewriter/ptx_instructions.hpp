// The instructions of inline PTX that the simulator has, and the types that stand for them (include/tilewise_device/ptx.hpp).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::sim {

/// One operand of an instruction, as C++.
struct PtxOperand {
  std::string expression;  ///< "tw_3", "16u"
  bool in_braces = false;  ///< of a vector, {%0, %1}
};

struct PtxInstruction {
  std::string type;                 ///< of tilewise::sim::ptx; empty: the simulator lacks the instruction
  std::size_t least = 0, most = 0;  ///< operands
};

/// "add.s32" with its operands, whose number is not looked at.
PtxInstruction find_ptx_instruction(std::string_view opcode, const std::vector<PtxOperand>& operands);

/// What the instruction would need, if that is a newer GPU: a sentence. Else empty.
std::string what_ptx_needs(std::string_view opcode);

/// The type that reads a special register, "laneid", and whether it has 64 bits. Empty: there is no such register.
struct PtxRegister {
  std::string type;
  bool wide = false;
};
PtxRegister find_ptx_register(std::string_view name);

/// The C++ type of a register that is declared in the text with this type, ".b32" without its point. Null: the simulator lacks it.
const char* type_of_ptx_register(std::string_view type);

}  // namespace tilewise::sim
