// Inline PTX: what the text of an asm statement says, as C++ that calls what stands for each instruction.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilewise::sim {

struct PtxCode {
  std::string body;          ///< statements. Operand %2 is `tw_2`
  std::size_t operands = 0;  ///< one more than the highest number of an operand in the text
  std::string error;         ///< why the simulator cannot run it: a sentence
};

/// Reads what stands between the quotes.
PtxCode parse_ptx(std::string_view text);

}  // namespace tilewise::sim
