#include "checked_calls.hpp"

#include <fmt/format.h>

#include <sstream>
#include <utility>
#include <vector>

namespace tilewise::grader {

bool can_check_calls() {
#if defined(__x86_64__) && defined(__linux__)
  return true;
#else
  return false;
#endif
}

std::string checked_call_assembly(const std::string& symbols, std::uint64_t mark) {
  // The address is in %r11, arguments may be in all other registers that a call may change, and on the stack. The mark
  // itself stands nowhere in this code, or what follows it would be callable.
  std::string text = fmt::format(R"(	.text
	.globl	tilewise_checked_call
	.type	tilewise_checked_call, @function
tilewise_checked_call:
	movabsq	${:#x}, %r10
	notq	%r10
	cmpq	%r10, -8(%r11)
	jne	1f
	jmp	tilewise_indirect_call
1:	pushq	%rbp
	movq	%rsp, %rbp
	andq	$-16, %rsp
	subq	$192, %rsp
)",
                                 ~mark);
  const char* const words[] = {"%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9", "%rax", "%r11"};
  for (int i = 0; i < 8; ++i) text += fmt::format("\tmovq\t{}, {}(%rsp)\n", words[i], 8 * i);
  for (int i = 0; i < 8; ++i) text += fmt::format("\tmovaps\t%xmm{}, {}(%rsp)\n", i, 64 + 16 * i);
  text += "\tmovq\t%r11, %rdi\n\tcall\ttilewise_look_at_call\n";
  for (int i = 0; i < 8; ++i) text += fmt::format("\tmovq\t{}(%rsp), {}\n", 8 * i, words[i]);
  for (int i = 0; i < 8; ++i) text += fmt::format("\tmovaps\t{}(%rsp), %xmm{}\n", 64 + 16 * i, i);
  text += R"(	movq	%rbp, %rsp
	popq	%rbp
	jmp	tilewise_indirect_call
	.section	.data.rel.ro, "aw"
	.globl	tilewise_callable
	.balign	8
tilewise_callable:
)";
  std::vector<std::pair<std::string, std::string>> shared;
  std::istringstream lines(symbols);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words_of(line);
    std::string word, name, kind, bytes;
    while (words_of >> word) bytes = kind, kind = name, name = word;
    if ((kind == "u" || kind == "V") && name.starts_with("_Z") && bytes.size() == 16 &&
        bytes.find_first_not_of('0') != std::string::npos)
      shared.emplace_back(name, bytes);
    // What it calls, and functions that others may have, too, so that theirs may be linked. The counters of arithmetic are a thread's own variables.
    if ((kind == "U" || kind == "W") && name != "tilewise_flop" && name.find_first_of("\"\\") == std::string::npos)
      text += "\t.quad\t\"" + name + "\"\n";
  }
  text += "\t.quad\t0\n\t.globl\ttilewise_own_data\ntilewise_own_data:\n";
  // Where they begin and end: the file's variables, and those that others may have, too.
  for (int i = 0; i < 4; ++i) text += fmt::format("\t.quad\ttilewise_own_{0}_begin, tilewise_own_{0}_end\n", i);
  for (const auto& [name, bytes] : shared) text += fmt::format("\t.quad\t\"{0}\", \"{0}\" + 0x{1}\n", name, bytes);
  return text + "\t.quad\t0, 0\n\t.section\t.note.GNU-stack, \"\", @progbits\n";
}

}  // namespace tilewise::grader
