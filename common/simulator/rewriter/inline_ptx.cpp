// asm statements: each becomes the call of a lambda, which ptx.hpp writes.
#include "rewriting.hpp"

namespace tilewise::sim {

/// `asm volatile("cvt.rna.tf32.f32 %0, %1;" : "=r"(x) : "f"(y))` becomes the call of a lambda with the operands as they stand; it
/// calls what stands for the text's instructions.
void Rewriter::rewrite_asm(std::size_t i) {
  std::size_t open = i + 1;
  while (syntax_.is_any(open, {"volatile", "__volatile__"})) ++open;
  const std::size_t close = syntax_.is(open, "(") ? syntax_.match(open) : kNone;
  if (close == kNone) return error(i, "this asm statement has no closing parenthesis");
  std::string text;
  std::size_t k = open + 1;
  for (; is_string(k); ++k) {
    const std::string_view quoted = syntax_.text(k);
    if (quoted.size() < 2 || quoted.front() != '"')
      return error(k, "the simulator reads asm texts in plain quotes only");
    text += quoted.substr(1, quoted.size() - 2);
  }
  const PtxCode code = parse_ptx(text);
  if (!code.error.empty()) return error(i, code.error);
  const std::size_t text_end = k;
  const std::optional<std::vector<std::size_t>> constraints = asm_operands(text_end, close);
  if (!constraints) return;
  const std::vector<std::size_t>& operands = *constraints;
  replace(i, text_end, lambda_of(i, code, operands) + "(");
  std::size_t from = text_end;  // of what is in front of the next operand
  for (std::size_t n = 0; n < operands.size(); ++n) {
    replace(from, operands[n] + 1, n == 0 ? "" : ",");
    from = syntax_.match(operands[n] + 1) + 1;
  }
  if (from < close) replace(from, close, "");
}

/// The constraints in the first two lists of an asm statement; what stands after each in parentheses is an operand.
std::optional<std::vector<std::size_t>> Rewriter::asm_operands(std::size_t begin, std::size_t close) {
  std::vector<std::size_t> operands;
  std::size_t lists = 0;
  for (std::size_t k = begin; k < close; ++k) {
    if (syntax_.is_any(k, {":", "::"})) {
      lists += syntax_.is(k, "::") ? 2 : 1;
      if (lists > 2) break;  // what is changed besides
    } else if (is_string(k) && syntax_.is(k + 1, "(") && syntax_.match(k + 1) != kNone) {
      operands.push_back(k);
      k = syntax_.match(k + 1);
    } else if (!syntax_.is(k, ",")) {
      error(k, "the simulator reads operands of inline PTX (asm) such as \"=r\"(x); nvcc takes no names in brackets");
      return std::nullopt;
    }
  }
  return operands;
}

std::string Rewriter::lambda_of(std::size_t i, const PtxCode& code, const std::vector<std::size_t>& operands) {
  if (code.operands > operands.size())
    error(i, "this asm statement has no operand %" + std::to_string(code.operands - 1));
  std::string parameters;
  for (std::size_t n = 0; n < operands.size(); ++n) {
    const std::string parameter = "tw_" + std::to_string(n);
    parameters += (n == 0 ? "" : ", ") + std::string("[[maybe_unused]] auto&& ") + parameter;
    if (const std::string_view constraint = syntax_.text(operands[n]);
        constraint.find_first_of("0123456789") != std::string_view::npos)
      error(operands[n], "nvcc takes no constraint such as " + std::string(constraint) +
                             ": an operand that is read and written is \"+r\"(x)");
  }
  return " [&](" + parameters + ") __attribute__((always_inline)) { " + code.body + "}";
}

bool Rewriter::is_string(std::size_t k) const {
  return k < syntax_.size() && syntax_.token(k).kind == TokenKind::string;
}

/// `asm volatile("" ::: "memory")` holds no instruction and may stay.
bool Rewriter::is_empty_asm(std::size_t i) const {
  std::size_t k = i + 1;
  while (syntax_.is_any(k, {"volatile", "__volatile__"})) ++k;
  return syntax_.is(k, "(") && syntax_.is(k + 1, "\"\"") && syntax_.is_any(k + 2, {":", "::", ")"});
}

}  // namespace tilewise::sim
