// What simcc tells the hooks about addresses, from the assembly that the compiler writes.
#include "known_bits.hpp"

#include <string>

#include "catch.hpp"

using tilewise::sim::tell_known_bits;

namespace {

const std::string kShared = "\tcall\t_ZN8tilewise3sim14shared_addressERNS0_14SharedVariableEPKcS4_i@PLT\n";
const std::string kRead = "\tcall\t__tsan_read4@PLT\n", kKnown = "\tcall\ttilewise_read4_known5@PLT\n";

std::string function(const std::string& body) { return "f:\n\t.cfi_startproc\n" + body + "\tret\n\t.cfi_endproc\n"; }

}  // namespace

TEST_CASE("the place of a shared array stays known on the stack and through a loop", "[known-bits]") {
  const std::string loop = kShared + "\tmovq\t%rax, 32(%rsp)\n\tmovl\t$0, %ebx\n.L2:\n\tmovq\t32(%rsp), %rdi\n";
  const std::string rest = "\taddl\t$1, %ebx\n\tcmpl\t$9, %ebx\n\tjne\t.L2\n";
  CHECK(tell_known_bits(function(loop + kRead + rest)) == function(loop + kKnown + rest));
  // An index that nothing is known of.
  const std::string indexed = kShared + "\tmovslq\t%ebx, %rbx\n\tleaq\t(%rax,%rbx,4), %rdi\n";
  CHECK(tell_known_bits(function(indexed + kRead)) == function(indexed + kRead));
}

TEST_CASE("nothing comes back from a function that ends the program", "[known-bits]") {
  // .L5 is where an exception lands: nothing is known there. It ends in a call, and what lies after that is reached by .L3 alone.
  for (const std::string end : {"__stack_chk_fail", "_Unwind_Resume", "abort"}) {
    const std::string before = kShared +
                               "\tmovq\t%rax, 32(%rsp)\n\tjmp\t.L3\n.L5:\n\tendbr64\n\tmovq\t%rax, %rbx\n\tcall\t" +
                               end + "@PLT\n.L3:\n\tmovq\t32(%rsp), %rdi\n";
    INFO(end);
    CHECK(tell_known_bits(function(before + kRead)) == function(before + kKnown));
  }
  const std::string before =
      kShared +
      "\tmovq\t%rax, 32(%rsp)\n\tjmp\t.L3\n.L5:\n\tendbr64\n\tmovq\t%rax, %rbx\n\tcall\tcomes_back@PLT\n.L3:\n"
      "\tmovq\t32(%rsp), %rdi\n";
  CHECK(tell_known_bits(function(before + kRead)) == function(before + kRead));
}

namespace {

/// What is known of an address when `body` has left it in x0: 0, 3, 4 or 5 for all of it.
int known_on_aarch64(const std::string& body) {
  const std::string place = "\tbl\t_ZN8tilewise3sim14shared_addressERNS0_14SharedVariableEPKcS4_i\n";
  const std::string text = tell_known_bits(function(place + "\tmov\tx20, x0\n" + body + "\tbl\t__tsan_read4\n"));
  const std::string known = "tilewise_read4_known";
  const std::size_t at = text.find(known);
  return at == std::string::npos ? 0 : text[at + known.size()] - '0';
}

}  // namespace

TEST_CASE("the end of an address is followed through AArch64's instructions", "[known-bits][aarch64]") {
  CHECK(known_on_aarch64("") == 5);
  CHECK(known_on_aarch64("\tmov\tx0, x19\n") == 0);
  CHECK(known_on_aarch64("\tadd\tx0, x20, 36\n") == 5);
  CHECK(known_on_aarch64("\tadd\tx0, x20, #1, lsl #12\n") == 5);
  // An index that nothing is known of, times its width.
  CHECK(known_on_aarch64("\tadd\tx0, x20, w1, sxtw 2\n") == 0);
  CHECK(known_on_aarch64("\tadd\tx0, x20, x1, lsl 3\n") == 3);
  CHECK(known_on_aarch64("\tlsl\tw1, w1, 4\n\tadd\tx0, x20, w1, sxtw\n") == 4);
  CHECK(known_on_aarch64("\tlsl\tw1, w1, 1\n\tadd\tx0, x20, w1, sxtw 2\n") == 0);  // as on x86-64
  CHECK(known_on_aarch64("\tlsl\tw1, w1, 4\n\tasr\tw1, w1, 1\n\tadd\tx0, x20, w1, uxtw\n") == 3);
  CHECK(known_on_aarch64("\tsbfiz\tx1, x1, 5, 32\n\tadd\tx0, x20, x1\n") == 4);
  CHECK(known_on_aarch64("\tsbfiz\tx1, x1, 5, 32\n\tubfx\tx1, x1, 2, 8\n\tadd\tx0, x20, x1\n") == 3);
  CHECK(known_on_aarch64("\tand\tw1, w1, -16\n\tadd\tx0, x20, w1, sxtw\n") == 4);
  CHECK(known_on_aarch64("\torr\tw1, w1, 16\n\tadd\tx0, x20, w1, sxtw\n") == 0);
  CHECK(known_on_aarch64("\tmov\tw2, 24\n\tmul\tw1, w1, w2\n\tadd\tx0, x20, w1, sxtw\n") == 3);
  CHECK(known_on_aarch64("\tmov\tx2, 0\n\tmovk\tx2, 1, lsl 16\n\tmadd\tx0, x2, x1, x20\n") == 4);
  CHECK(known_on_aarch64("\tmov\tw2, 16\n\tsmaddl\tx0, w1, w2, x20\n") == 4);
  CHECK(known_on_aarch64("\tmov\tw2, 12\n\tsmaddl\tx0, w1, w2, x20\n") == 0);
  CHECK(known_on_aarch64("\tcsel\tx0, x20, x19, eq\n") == 0);
  CHECK(known_on_aarch64("\tadd\tx1, x20, 8\n\tcsel\tx0, x20, x1, eq\n") == 5);
  CHECK(known_on_aarch64("\tadd\tx0, x20, wzr, sxtw 2\n") == 5);
  CHECK(known_on_aarch64("\tudiv\tx0, x20, x1\n") == 0);
  CHECK(known_on_aarch64("\tadrp\tx0, v\n\tadd\tx0, x0, :lo12:v\n") == 0);
  CHECK(known_on_aarch64("\tldr\tx0, [x20]\n") == 0);
  // Places on the stack, by either name, until something else is stored there.
  CHECK(known_on_aarch64("\tstr\tx20, [sp, 24]\n\tldr\tx0, [sp, 24]\n") == 5);
  CHECK(known_on_aarch64("\tmov\tx29, sp\n\tstr\tx20, [x29, 24]\n\tldr\tx0, [sp, 24]\n") == 5);
  CHECK(known_on_aarch64("\tadd\tx29, sp, 16\n\tstr\tx20, [x29, 8]\n\tldr\tx0, [sp, 24]\n") == 5);
  CHECK(known_on_aarch64("\tstr\tx20, [x29, 24]\n\tldr\tx0, [x29, 24]\n") == 0);
  CHECK(known_on_aarch64("\tstp\tx19, x20, [sp, 16]\n\tldr\tx0, [sp, 24]\n") == 5);
  CHECK(known_on_aarch64("\tstp\tx20, x19, [sp, 16]\n\tldp\tx1, x0, [sp, 16]\n") == 0);
  CHECK(known_on_aarch64("\tstr\tx20, [sp, 24]\n\tstr\tq0, [sp, 16]\n\tldr\tx0, [sp, 24]\n") == 0);
  CHECK(known_on_aarch64("\tstr\tx20, [sp, 24]\n\tstrb\tw1, [sp, 31]\n\tldr\tx0, [sp, 24]\n") == 0);
  CHECK(known_on_aarch64("\tstr\tx20, [sp, 24]\n\tsub\tsp, sp, #16\n\tldr\tx0, [sp, 24]\n") == 0);
  // What is added after an access, or before it.
  CHECK(known_on_aarch64("\tldr\ts0, [x20], 32\n\tmov\tx0, x20\n") == 5);
  CHECK(known_on_aarch64("\tadd\tx20, x20, x1, lsl 3\n\tldr\ts0, [x20, 32]!\n\tmov\tx0, x20\n") == 3);
  // A call keeps x19 to x28.
  CHECK(known_on_aarch64("\tbl\tf\n\tmov\tx0, x20\n") == 5);
  CHECK(known_on_aarch64("\tmov\tx2, x20\n\tblr\tx3\n\tmov\tx0, x2\n") == 0);
  CHECK(known_on_aarch64("\tbl\t_ZN8tilewise3sim8aligned8EPVKv\n") == 3);
  // A loop, by all that jumps: the way back brings less.
  for (const std::string jump : {"bne\t.L2", "b.ne\t.L2", "cbz\tw1, .L2", "tbz\tw1, #3, .L2"}) {
    const std::string back = "\tadd\tx21, x21, w1, sxtw 3\n\t" + jump + "\n\tmov\tx0, x20\n";
    CHECK(known_on_aarch64("\tmov\tx21, x20\n.L2:\n\tmov\tx0, x21\n\tbl\t__tsan_write8\n" + back) == 5);
    CHECK(known_on_aarch64("\tb\t.L3\n.L2:\n\tmov\tx20, x19\n.L3:\n" + back) == 0);
  }
}
