// Inline PTX: which instruction an asm statement is, and what the simulator calls in its place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::sim {

/// One operand in the text of an asm statement.
struct PtxOperand {
  std::size_t number = 0;  ///< of "%3"
  std::string literal;     ///< or a number that stands in the text, "16"
};

struct PtxCall {
  std::string instruction;  ///< a type of tilewise::sim::ptx (include/tilewise_device/ptx.hpp); empty: see `error`
  std::vector<PtxOperand> operands;
  std::string error;  ///< why the simulator cannot run it: a sentence
};

/// Reads what stands between the quotes.
PtxCall parse_ptx(std::string_view text);

}  // namespace tilewise::sim
