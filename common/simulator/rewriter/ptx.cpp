#include "ptx.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "ptx_instructions.hpp"

namespace tilewise::sim {
namespace {
namespace ptx_text {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool is_in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.'; }
bool all_of(std::string_view text, bool (*is)(char)) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \n") - first + 1);
}

// Spaces and line breaks for what stands for them in a string; no comments.
std::string without_comments(std::string_view quoted) {
  std::string text;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    const char escaped = quoted[i] == '\\' && i + 1 < quoted.size() ? quoted[++i] : '\0';
    const bool space =
        escaped == 't' || escaped == 'r' ||
        (escaped == '\0' && quoted[i] != '\n' && std::isspace(static_cast<unsigned char>(quoted[i])) != 0);
    text += escaped == 'n' ? '\n' : space ? ' ' : quoted[i];
  }
  for (const auto& [begin, end, left] :
       {std::tuple("/*", "*/", std::size_t{0}), std::tuple("//", "\n", std::size_t{1})})
    for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
      const std::size_t stop = text.find(end, at + 2);
      text.erase(at, stop == std::string::npos ? stop : stop + (left == 1 ? 0 : 2) - at);
    }
  return text;
}

/// Reads a text statement by statement.
class Reader {
 public:
  PtxCode read(const std::string& text) {
    for (std::size_t at = 0; code_.error.empty() && at < text.size();) {
      at = text.find_first_not_of(" \n", at);
      if (at == std::string::npos) break;
      if (text[at] == '{' || text[at] == '}') {
        code_.body += text[at++];
        code_.body += ' ';
      } else if (text[at] == ';') {
        ++at;
      } else {
        std::size_t end = std::min(text.find(';', at), text.size());
        statement(trimmed(std::string_view(text).substr(at, end - at)));
        at = end + 1;
      }
    }
    if (code_.error.empty() && !has_instruction_)
      fail("the simulator does not support inline PTX (asm) without an instruction in its text");
    if (code_.error.empty() &&
        std::count(code_.body.begin(), code_.body.end(), '{') != std::count(code_.body.begin(), code_.body.end(), '}'))
      fail("the braces in the text of this asm statement do not match");
    return std::move(code_);
  }

 private:
  void fail(std::string why) {
    if (code_.error.empty()) code_.error = std::move(why);
  }

  void statement(std::string_view text) {
    std::string condition;
    if (text.front() == '@') {
      const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
      const std::optional<std::string> predicate = expression(text.substr(1, end - 1));
      if (!predicate)
        return fail("the simulator knows no predicate " + std::string(text.substr(1, end - 1)) +
                    " in this inline PTX (asm)");
      condition = "if (" + *predicate + ") ";
      text = trimmed(text.substr(end));
    }
    const std::string_view opcode = text.substr(0, std::min(text.find_first_of(" \n"), text.size()));
    if (opcode == ".reg") return declare(trimmed(text.substr(opcode.size())));
    if (std::string needs = what_ptx_needs(opcode); !needs.empty()) return fail(std::move(needs));
    has_instruction_ = true;
    std::vector<PtxOperand> operands;
    unread_ = special_register_ = false;
    read_operands(text.substr(opcode.size()), operands);
    const PtxInstruction instruction = find_ptx_instruction(opcode, operands);
    if (instruction.type.empty() || unknown_register_)
      return fail("the simulator does not support inline PTX (asm) with " + std::string(opcode) +
                  ": use a CUDA intrinsic or plain C++");
    if (special_register_ && opcode.substr(0, 4) != "mov.")
      return fail("special registers are operands of mov, and not of " + std::string(opcode));
    if (unread_)
      return fail(
          "the simulator reads operands of inline PTX (asm) that are %0, %1 ..., registers declared in it or "
          "numbers, and not these of " +
          std::string(opcode));
    if (operands.size() < instruction.least || operands.size() > instruction.most)
      return fail(std::string(opcode) + " takes " + std::to_string(instruction.least) + " operands, and not " +
                  std::to_string(operands.size()));
    code_.body += condition + "::tilewise::sim::ptx::" + instruction.type + "::call(";
    for (std::size_t i = 0; i < operands.size(); ++i) code_.body += (i == 0 ? "" : ", ") + operands[i].expression;
    code_.body += "); ";
  }

  // ".reg .pred p, q" and ".reg .b32 t<4>", which are t0 to t3.
  void declare(std::string_view text) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const char* const type = end > 1 && text.front() == '.' ? type_of_ptx_register(text.substr(1, end - 1)) : nullptr;
    if (type == nullptr)
      return fail("the simulator does not support registers of type " + std::string(text.substr(0, end)) +
                  " in inline PTX (asm)");
    for_each_piece(text.substr(end), [&](std::string_view name) {
      std::size_t count = 0;
      const std::size_t open = name.find('<');
      if (open != std::string_view::npos && name.back() == '>') {
        const std::string_view digits = name.substr(open + 1, name.size() - open - 2);
        if (all_of(digits, is_digit) && digits.size() <= 3) count = std::stoul(std::string(digits));
        name = name.substr(0, open);
        for (std::size_t i = 0; i < count; ++i) declare_one(type, std::string(name) + std::to_string(i));
      }
      if (count == 0) declare_one(type, std::string(name));
    });
  }
  void declare_one(const char* type, const std::string& name) {
    if (name.find_first_of("<> \n") != std::string::npos)
      return fail("the simulator does not read the declaration of a register " + name + " in inline PTX (asm)");
    registers_.insert(name);
    code_.body += std::string(type) + " " + cpp_name(name) + "{}; ";
  }

  static std::string cpp_name(std::string_view name) {
    std::string plain = "tw_reg_";
    for (const char c : name) plain += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return plain;
  }

  template <class F>
  static void for_each_piece(std::string_view text, F f) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(',', at), text.size());
      if (const std::string_view piece = trimmed(text.substr(at, end - at)); !piece.empty()) f(piece);
      at = end + 1;
    }
  }

  // "{%0, %1}, [%2 + 16], p|q".
  void read_operands(std::string_view text, std::vector<PtxOperand>& operands) {
    bool in_braces = false;
    for_each_piece(text, [&](std::string_view piece) {
      if (piece.front() == '{') in_braces = true, piece = trimmed(piece.substr(1));
      const bool closes = !piece.empty() && piece.back() == '}';
      if (closes) piece = trimmed(piece.substr(0, piece.size() - 1));
      const std::size_t two = piece.find('|');
      read_operand(piece.substr(0, two), in_braces, operands);
      if (two != std::string_view::npos) read_operand(piece.substr(two + 1), in_braces, operands);
      if (closes) in_braces = false;
    });
  }

  void read_operand(std::string_view piece, bool in_braces, std::vector<PtxOperand>& operands) {
    piece = trimmed(piece);
    std::optional<std::string> read;
    if (piece.size() > 2 && piece.front() == '[' && piece.back() == ']') {
      piece = trimmed(piece.substr(1, piece.size() - 2));
      const std::size_t sign = piece.find_first_of("+-", 1);
      read = expression(trimmed(piece.substr(0, sign)));
      if (read && sign != std::string_view::npos) {
        std::string_view offset = trimmed(piece.substr(sign + 1));
        const bool negative = (piece[sign] == '-') != (!offset.empty() && offset.front() == '-');
        if (!offset.empty() && offset.front() == '-') offset = trimmed(offset.substr(1));
        const std::optional<std::string> bytes = number(offset);
        if (bytes)
          read = "::tilewise::sim::ptx::behind(" + *read + ", " + (negative ? "-" : "") + *bytes + ")";
        else
          read.reset();
      }
    } else {
      read = expression(piece);
    }
    unread_ |= !read.has_value();
    operands.push_back({read.value_or(""), in_braces});
  }

  // A register, an operand of the asm statement, or a number, as C++.
  std::optional<std::string> expression(std::string_view text) {
    if (text.empty()) return {};
    if (text.front() == '!') {
      std::optional<std::string> read = expression(trimmed(text.substr(1)));
      if (read) read->insert(0, "!");
      return read;
    }
    if (registers_.count(std::string(text)) != 0) return cpp_name(text);
    if (text.front() != '%') return number(text);
    text.remove_prefix(1);
    if (all_of(text, is_digit) && text.size() <= 5) {
      const std::size_t n = std::stoul(std::string(text));
      code_.operands = std::max(code_.operands, n + 1);
      return "tw_" + std::string(text);
    }
    if (!text.empty() && text.front() == '%')
      text.remove_prefix(1);  // "%%laneid": a single one where there are no operands
    const std::string name(text);
    for (const std::string& declared : {name, "%" + name, "%%" + name})
      if (registers_.count(declared) != 0) return cpp_name(declared);
    if (!all_of(text, is_in_name)) return {};
    const PtxRegister special = find_ptx_register(text);
    unknown_register_ |= special.type.empty();
    special_register_ = true;
    return "::tilewise::sim::ptx::read<::tilewise::sim::ptx::" + special.type +
           (special.wide ? ", std::uint64_t>()" : ", std::uint32_t>()");
  }

  // "16", "-1", "0xFF", "0f3F800000", "0d3FF0000000000000", "1.5".
  static std::optional<std::string> number(std::string_view text) {
    const std::string sign = !text.empty() && text.front() == '-' ? "-" : "";
    std::string_view digits = text.substr(sign.size());
    if (digits.size() > 1 && (digits.back() == 'U' || digits.back() == 'u')) digits.remove_suffix(1);
    const std::string_view behind = digits.size() > 2 && digits.front() == '0' ? digits.substr(2) : std::string_view();
    const char kind = behind.empty() ? '\0' : digits[1];
    if ((kind == 'x' || kind == 'X') && all_of(behind, is_hex) && behind.size() <= 16)
      return sign + std::string(digits);
    if (sign.empty() && (kind == 'f' || kind == 'F') && all_of(behind, is_hex) && behind.size() == 8)
      return "__builtin_bit_cast(float, 0x" + std::string(behind) + "u)";
    if (sign.empty() && (kind == 'd' || kind == 'D') && all_of(behind, is_hex) && behind.size() == 16)
      return "__builtin_bit_cast(double, 0x" + std::string(behind) + "ull)";
    if (all_of(digits, is_digit) && digits.size() <= 19) return sign + std::string(digits);
    const std::size_t point = digits.find('.');
    if (point != std::string_view::npos && all_of(digits.substr(0, point), is_digit) &&
        all_of(digits.substr(point + 1), is_digit))
      return sign + std::string(digits);
    return {};
  }

  PtxCode code_;
  std::set<std::string> registers_;
  bool has_instruction_ = false;
  bool unread_ = false;            // an operand of the running statement
  bool special_register_ = false;  // it has one as an operand
  bool unknown_register_ = false;  // it names one that there isn't
};

}  // namespace ptx_text
}  // namespace

PtxCode parse_ptx(std::string_view text) { return ptx_text::Reader().read(ptx_text::without_comments(text)); }

}  // namespace tilewise::sim
