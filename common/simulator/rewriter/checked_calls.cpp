#include "checked_calls.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace tilewise::sim {
namespace {

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

/// The name in ".type name, @function".
std::string_view function_of(std::string_view line) {
  constexpr std::string_view kType = ".type";
  if (line.compare(0, kType.size(), kType) != 0 || line.find("@function") == std::string_view::npos) return {};
  line = without_blanks(line.substr(kType.size()));
  return without_blanks(line.substr(0, line.find(',')));
}

/// The operand in "call *operand". What the linker puts into a table that nobody can write needs no look.
std::string_view indirect_call(std::string_view line) {
  for (const std::string_view call : {std::string_view("callq"), std::string_view("call")}) {
    if (line.compare(0, call.size(), call) != 0) continue;
    const std::string_view operand = without_blanks(line.substr(call.size()));
    if (operand.empty() || operand[0] != '*' || operand.find("@GOT") != std::string_view::npos) return {};
    return operand.substr(1);
  }
  return {};
}

}  // namespace

std::string check_calls(const std::string& assembly, const std::string& mark) {
  std::string out;
  out.reserve(assembly.size() + assembly.size() / 32);
  std::set<std::string_view> functions;
  for (std::size_t begin = 0; begin < assembly.size();) {
    const std::size_t end = std::min(assembly.find('\n', begin), assembly.size());
    const std::string_view text(assembly.data() + begin, end - begin);
    const std::string_view line = without_blanks(text);
    if (const std::string_view name = function_of(line); !name.empty()) functions.insert(name);
    if (const std::string_view operand = indirect_call(line); !operand.empty()) {
      out += "\tmovq\t" + std::string(operand) + ", %r11\n\tcall\ttilewise_checked_call\n";
    } else {
      const std::size_t colon = line.find(':');
      if (colon != std::string_view::npos && functions.count(line.substr(0, colon))) out += "\t.quad\t" + mark + "\n";
      out += text;
      out += '\n';
    }
    begin = end + 1;
  }
  return out;
}

}  // namespace tilewise::sim
