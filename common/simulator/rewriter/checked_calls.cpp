#include "checked_calls.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "assembly.hpp"

namespace tilewise::sim {
namespace {

/// The name in ".type name, @function".
std::string_view function_of(std::string_view line) {
  constexpr std::string_view kType = ".type";
  if (line.compare(0, kType.size(), kType) != 0 || line.find("@function") == std::string_view::npos) return {};
  line = without_blanks(line.substr(kType.size()));
  return without_blanks(line.substr(0, line.find(',')));
}

/// "\tcall\tmemcpy": to a function that looks at the addresses first. Empty for other lines.
std::string looked_at(std::string_view line) {
  const std::size_t blank = line.find_first_of(" \t");
  if (blank == std::string_view::npos || (line.substr(0, blank) != "call" && line.substr(0, blank) != "callq"))
    return {};
  std::string_view name = without_blanks(line.substr(blank));
  name = name.substr(0, name.find('@'));
  for (const std::string_view copying : {"memcpy", "memmove", "memset"})
    if (name == copying) return "\tcall\ttilewise_guarded_" + std::string(name) + "\n";
  return {};
}

/// ".comm name,4,8" of a variable of the file's own, as a place in .bss: the assembler would put it after all others, and
/// past the end of them. Empty for other lines.
std::string placed(std::string_view line, const std::set<std::string_view>& local) {
  constexpr std::string_view kCommon = ".comm";
  if (line.compare(0, kCommon.size(), kCommon) != 0) return {};
  const std::string_view rest = without_blanks(line.substr(kCommon.size()));
  const std::size_t first = rest.find(','), second = rest.find(',', first + 1);
  if (second == std::string_view::npos || !local.count(rest.substr(0, first))) return {};
  return "\t.pushsection\t.bss\n\t.balign\t" + std::string(rest.substr(second + 1)) + "\n" +
         std::string(rest.substr(0, first)) + ":\n\t.zero\t" + std::string(rest.substr(first + 1, second - first - 1)) +
         "\n\t.popsection\n";
}

/// Where the file's variables begin, or end.
std::string edges(const char* which) {
  std::string text;
  int n = 0;
  for (const char* section : {".bss", ".data", ".section\t.data.rel,\"aw\"", ".section\t.data.rel.local,\"aw\""}) {
    const std::string name = "tilewise_own_" + std::to_string(n++) + "_" + which;
    text += "\t" + std::string(section) + "\n\t.globl\t" + name + "\n\t.hidden\t" + name + "\n" + name + ":\n";
  }
  return text + "\t.text\n";
}

}  // namespace

std::string check_calls(const std::string& assembly, const std::string& mark) {
  std::string out;
  out.reserve(assembly.size() + assembly.size() / 32);
  out += edges("begin");
  std::set<std::string_view> functions, local;
  for (std::size_t begin = 0; begin < assembly.size();) {
    const std::size_t end = std::min(assembly.find('\n', begin), assembly.size());
    const std::string_view text(assembly.data() + begin, end - begin);
    const std::string_view line = without_comment(without_blanks(text));
    if (const std::string_view name = function_of(line); !name.empty()) functions.insert(name);
    if (line.starts_with(".local")) local.insert(without_blanks(line.substr(6)));
    if (const std::string_view operand = indirect_call(line); !operand.empty()) {
      out += "\tmovq\t" + std::string(operand) + ", %r11\n\tcall\ttilewise_checked_call\n";
    } else if (const std::string other = looked_at(line) + placed(line, local); !other.empty()) {
      out += other;
    } else {
      const std::size_t colon = line.find(':');
      if (colon != std::string_view::npos && functions.count(line.substr(0, colon))) out += "\t.quad\t" + mark + "\n";
      out += text;
      out += '\n';
    }
    begin = end + 1;
  }
  out += edges("end");
  return out;
}

}  // namespace tilewise::sim
