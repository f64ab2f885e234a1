// Floating-point operations in assembly, and what becomes of the calls that mark basic blocks.
#include "rewriter/arithmetic.hpp"

#include <string>

#include "catch.hpp"

using tilewise::sim::count_arithmetic;
using tilewise::sim::flop_of;
using tilewise::sim::tell_alignment;

TEST_CASE("instructions that compute are told from those that do not", "[arithmetic]") {
  const auto is = [](const char* line, unsigned single, unsigned twice) {
    INFO(line);
    CHECK(flop_of(line).single == single);
    CHECK(flop_of(line).twice == twice);
  };
  is("\taddss\t24(%rsp), %xmm0", 1, 0);
  is("\tmulss\t(%rbx), %xmm0", 1, 0);
  is("\tsubsd\t%xmm1, %xmm0", 0, 1);
  is("\tvdivsd\t%xmm1, %xmm0, %xmm0", 0, 1);
  is("\tsqrtss\t%xmm4, %xmm4", 1, 0);
  is("\tvfmadd231ss\t(%rdi), %xmm1, %xmm0", 2, 0);
  is("\tvfnmsub132sd\t(%rdi), %xmm1, %xmm0", 0, 2);
  is("\tmulps\t%xmm1, %xmm0", 4, 0);
  is("\taddpd\t%xmm1, %xmm0", 0, 2);
  is("\tcall\tfmaf@PLT", 2, 0);
  is("\tcallq\tfma@PLT", 0, 2);
  is("\tcall\tsqrt@PLT", 0, 1);
  for (const char* none : {"\tmovss\t24(%rsp), %xmm0", "\tucomiss\t%xmm1, %xmm0", "\tminss\t%xmm1, %xmm0",
                           "\tcvtsi2ssl\t%eax, %xmm0", "\txorps\t%xmm0, %xmm0", "\taddl\t$1, %eax", "\taddq\t$8, %rsp",
                           "\tcall\t_ZN3foo4fmafEv@PLT", "\tcall\t*%rbp", "addss:", ".Laddss:", "\t.string\t\"addss\"",
                           "", "\t", "\tpaddd\t%xmm1, %xmm0", "\tpsubd\t%xmm1, %xmm0", "\tmulsd_table"})
    is(none, 0, 0);
}

TEST_CASE("a block's operations are added where its call stood", "[arithmetic]") {
  const std::string call = "\tcall\t__sanitizer_cov_trace_pc@PLT\n";
  CHECK(count_arithmetic("") == "");
  CHECK(count_arithmetic("f:\n\tret\n") == "f:\n\tret\n");
  CHECK(count_arithmetic("f:\n" + call + "\tret") == "f:\n\tret");
  CHECK(count_arithmetic("f:\n" + call + "\tmulss\t%xmm1, %xmm0\n\taddss\t%xmm1, %xmm0\n\tret\n") ==
        "f:\n\taddq\t$2, %fs:tilewise_flop@tpoff\n\tmulss\t%xmm1, %xmm0\n\taddss\t%xmm1, %xmm0\n\tret\n");
  CHECK(
      count_arithmetic(call + "\tmulsd\t%xmm1, %xmm0\n.L2:\n" + call + "\taddss\t%xmm1, %xmm0\n" + call + "\tret\n") ==
      "\taddq\t$1, %fs:tilewise_flop@tpoff+8\n\tmulsd\t%xmm1, %xmm0\n.L2:\n\taddq\t$1, "
      "%fs:tilewise_flop@tpoff\n\taddss\t%xmm1, %xmm0\n\tret\n");
  // A block without a call: where something jumps to, flags and registers are kept (leaq leaves the flags alone). Other labels are no blocks.
  const std::string added =
      "\tmovq\t%fs:tilewise_flop@tpoff, %rcx\n\tleaq\t2(%rcx), %rcx\n\tmovq\t%rcx, %fs:tilewise_flop@tpoff\n";
  const std::string kept =
      "\tleaq\t-128(%rsp), %rsp\n\tpushq\t%rcx\n" + added + "\tpopq\t%rcx\n\tleaq\t128(%rsp), %rsp\n";
  const std::string two = "\tmulss\t%xmm1, %xmm0\n\taddss\t%xmm1, %xmm0\n";
  CHECK(count_arithmetic("f:\n" + call + "\tje\t.L2\n.L2:\n\tmovq\t%rax, %rbx\n" + two + "\tret\n") ==
        "f:\n\tje\t.L2\n.L2:\n\tmovq\t%rax, %rbx\n" + kept + two + "\tret\n");
  CHECK(count_arithmetic("f:\n" + call + two + "\tje\t.L2\n.L2:\n" + two + "\tret\n") ==
        "f:\n\taddq\t$2, %fs:tilewise_flop@tpoff\n" + two + "\tje\t.L2\n.L2:\n" + kept + two + "\tret\n");
  CHECK(count_arithmetic("f:\n" + call + ".Ltmp1:\n" + two + "\tret\n") ==
        "f:\n\taddq\t$2, %fs:tilewise_flop@tpoff\n.Ltmp1:\n" + two + "\tret\n");
  CHECK(count_arithmetic("f:\n" + call + "\tje\t.L2\n.L2:\n" + call + two + "\tret\n") ==
        "f:\n\tje\t.L2\n.L2:\n\taddq\t$2, %fs:tilewise_flop@tpoff\n" + two + "\tret\n");
  // Frames that are described by rsp are described where it moves, too; those that rbp describes stay as they are.
  const std::string start = "f:\n\t.cfi_startproc\n", jump = call + "\tje\t.L2\n.L2:\n" + two;
  const auto described = [&](const std::string& frame) { return count_arithmetic(start + frame + jump); };
  const std::string moved =
      "\tleaq\t-128(%rsp), %rsp\n\t.cfi_adjust_cfa_offset 128\n\tpushq\t%rcx\n"
      "\t.cfi_adjust_cfa_offset 8\n" +
      added +
      "\tpopq\t%rcx\n\t.cfi_adjust_cfa_offset -8\n"
      "\tleaq\t128(%rsp), %rsp\n\t.cfi_adjust_cfa_offset -128\n";
  const std::string by_rbp = "\t.cfi_def_cfa_register 6\n", back = "\t.cfi_def_cfa 7, 8\n",
                    remember = "\t.cfi_remember_state\n", restore = "\t.cfi_restore_state\n";
  for (const std::string& frame : {std::string(), std::string("\t.cfi_def_cfa_offset 16\n"), by_rbp + back,
                                   remember + by_rbp + restore, std::string("\t.cfi_def_cfa_register %rsp\n")})
    CHECK(described(frame) == start + frame + "\tje\t.L2\n.L2:\n" + moved + two);
  for (const std::string& frame : {by_rbp, remember + by_rbp, by_rbp + remember + back + restore,
                                   std::string("\t.cfi_def_cfa 10, 0\n"), std::string("\t.cfi_escape 0xf,0x3\n")})
    CHECK(described(frame) == start + frame + "\tje\t.L2\n.L2:\n" + kept + two);
  // Code of a shared library looks up where the counters are.
  const std::string looked_up = "\tmovq\ttilewise_flop@GOTTPOFF(%rip), %rax\n";
  CHECK(count_arithmetic("f:\n" + call + two + "\taddsd\t%xmm1, %xmm0\n\tje\t.L2\n.L2:\n" + two, true) ==
        "f:\n" + looked_up + "\taddq\t$2, %fs:(%rax)\n\taddq\t$1, %fs:8(%rax)\n" + two +
            "\taddsd\t%xmm1, %xmm0\n\tje\t.L2\n.L2:\n\tleaq\t-128(%rsp), %rsp\n\tpushq\t%rax\n\tpushq\t%rcx\n" +
            looked_up + "\tmovq\t%fs:(%rax), %rcx\n\tleaq\t2(%rcx), %rcx\n\tmovq\t%rcx, %fs:(%rax)\n" +
            "\tpopq\t%rcx\n\tpopq\t%rax\n\tleaq\t128(%rsp), %rsp\n" + two);
  CHECK(count_arithmetic("g:\n\tje\t.L2\n.L2:\n" + two + "\tret\n") == "g:\n\tje\t.L2\n.L2:\n" + two + "\tret\n");
  // Arithmetic of a function without calls belongs to no block of the function before.
  CHECK(count_arithmetic(call + "\tret\n\t.cfi_startproc\n\tmulsd\t%xmm1, %xmm0\n") ==
        "\tret\n\t.cfi_startproc\n\tmulsd\t%xmm1, %xmm0\n");
}

TEST_CASE("16 bytes that are moved as if aligned to 8 call the unaligned hook", "[arithmetic]") {
  const std::string read = "\tcall\t__tsan_read16@PLT\n", write = "\tcall\t__tsan_write16@PLT\n";
  const std::string odd_read = "\tcall\t__tsan_unaligned_read16@PLT\n",
                    odd_write = "\tcall\t__tsan_unaligned_write16@PLT\n";
  const std::string load = "\tmovdqu\t(%rbx), %xmm0\n", store = "\tmovups\t%xmm0, 0(%rbp)\n";
  const std::string aligned = "\tmovdqa\t(%rbx), %xmm0\n\tmovaps\t%xmm0, 0(%rbp)\n";
  CHECK(tell_alignment("") == "");
  CHECK(tell_alignment(read + load) == odd_read + load);
  CHECK(tell_alignment(read + "\tvmovdqu\t(%rbx), %xmm0") == odd_read + "\tvmovdqu\t(%rbx), %xmm0");
  CHECK(tell_alignment(write + "\tmovq\t%rbx, %rdi\n" + read + ".LVL3:\n\t.loc 1 2 3\n" + load + store) ==
        odd_write + "\tmovq\t%rbx, %rdi\n" + odd_read + ".LVL3:\n\t.loc 1 2 3\n" + load + store);
  // The first move decides, and the stack's is not it.
  for (const std::string& same :
       {read + aligned, write + read + aligned + load, aligned + load + store,
        read + "\tmovups\t%xmm0, 16(%rsp)\n" + aligned, read + "\tmovups\t%xmm1, %xmm0\n" + aligned})
    CHECK(tell_alignment(same) == same);
  CHECK(tell_alignment(write + read + load + store + write + read + aligned) ==
        odd_write + odd_read + load + store + write + read + aligned);
  // Where rbp is a second name of the stack, it is the stack, until the next function begins.
  const std::string begins = "\t.cfi_startproc\n", frame = begins + "\tpushq\t%rbp\n\tmovq\t%rsp, %rbp\n";
  CHECK(tell_alignment(frame + read + store + aligned) == frame + read + store + aligned);
  CHECK(tell_alignment(frame + read + load) == frame + odd_read + load);
  CHECK(tell_alignment(frame + begins + write + store) == frame + begins + odd_write + store);
  // What comes after another call or a jump belongs to something else.
  for (std::string other : {"\tcall\tf@PLT\n", "\tcall\t__tsan_read4@PLT\n", "\tjne\t.L4\n", "\tret\n"})
    CHECK(tell_alignment(read + other + load) == read + other + load);
}
