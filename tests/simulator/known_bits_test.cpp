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
  // .L5 is where an exception lands: nothing is known there. It ends in a call, and what lies behind that is reached by .L3 alone.
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
