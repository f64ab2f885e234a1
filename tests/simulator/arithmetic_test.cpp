// Floating-point operations in assembly, and what becomes of the calls that mark basic blocks.
#include "rewriter/arithmetic.hpp"

#include <string>

#include "catch.hpp"
#include "rewriter/divisions.hpp"
#include "rewriter/far_jumps.hpp"

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

TEST_CASE("instructions of AArch64 that compute are told from those that do not", "[arithmetic][aarch64]") {
  const auto is = [](const char* line, unsigned single, unsigned twice) {
    INFO(line);
    CHECK(flop_of(line).single == single);
    CHECK(flop_of(line).twice == twice);
  };
  is("\tfadd\ts0, s1, s2", 1, 0);
  is("\tfsub\td15, d1, d2", 0, 1);
  is("\tfmul\ts0, s1, v2.s[3]", 1, 0);
  is("\tfnmul\td0, d1, d2", 0, 1);
  is("\tfdiv\ts31, s1, s2", 1, 0);
  is("\tfsqrt\td0, d1", 0, 1);
  is("\tfabd\ts0, s1, s2", 1, 0);
  is("\tfmadd\ts0, s1, s2, s3", 2, 0);
  is("\tfmsub\td0, d1, d2, d3", 0, 2);
  is("\tfnmadd\ts0, s1, s2, s3", 2, 0);
  is("\tfnmsub\td0, d1, d2, d3", 0, 2);
  is("\tfadd\tv0.2s, v1.2s, v2.2s", 2, 0);
  is("\tfmul\tv0.4s, v1.4s, v2.s[0]", 4, 0);
  is("\tfdiv\tv0.2d, v1.2d, v2.2d", 0, 2);
  is("\tfmla\tv0.4s, v1.4s, v2.4s", 8, 0);
  is("\tfmls\tv0.2d, v1.2d, v2.2d", 0, 4);
  is("\tfaddp\td0, v1.2d", 0, 1);
  is("\tfcvtzs\tw0, s0, 4", 1, 0);  // multiplies by 16 first
  is("\tfcvtzu\tx0, d0, #4", 0, 1);
  is("\tbl\tfmaf", 2, 0);
  is("\tbl\tfma", 0, 2);
  is("\tbl\tsqrtf", 1, 0);
  for (const char* none : {"\tfmov\ts0, s1",
                           "\tfmov\ts0, 1.0e+0",
                           "\tfcmpe\ts0, s1",
                           "\tfcsel\ts0, s1, s2, gt",
                           "\tfneg\ts0, s1",
                           "\tfabs\td0, d1",
                           "\tfminnm\ts0, s1, s2",
                           "\tfcvt\td0, s0",
                           "\tfcvtzs\tw0, s0",
                           "\tscvtf\ts0, w0",
                           "\tfrintm\ts0, s0",
                           "\tadd\tx0, x1, x2",
                           "\tmadd\tw0, w1, w2, w3",
                           "\tadd\tv0.4s, v1.4s, v2.4s",
                           "\tbl\tfmaxf",
                           "\tb\tfma",
                           "\tblr\tx3",
                           "fadd:",
                           "\tfadd\t%st, %st(1)",
                           "\tfmuls\t4(%rax)",
                           "\tfsqrt",
                           "\tfadd"})
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

TEST_CASE("a block's operations are added on AArch64 as well", "[arithmetic][aarch64]") {
  const std::string call = "\tbl\t__sanitizer_cov_trace_pc\n", two = "\tfmul\ts0, s0, s1\n\tfadd\ts0, s0, s1\n";
  const std::string place =
      "\tmrs\tx16, tpidr_el0\n\tadd\tx16, x16, #:tprel_hi12:tilewise_flop, lsl #12\n\tadd\tx16, x16, "
      "#:tprel_lo12_nc:tilewise_flop\n";
  const std::string added = place + "\tldr\tx17, [x16]\n\tadd\tx17, x17, #2\n\tstr\tx17, [x16]\n";
  CHECK(count_arithmetic("f:\n" + call + "\tret\n") == "f:\n\tret\n");
  CHECK(count_arithmetic("f:\n" + call + two + "\tret\n") == "f:\n" + added + two + "\tret\n");
  CHECK(count_arithmetic("f:\n" + call + "\tfadd\td0, d1, d2\n\tret\n") ==
        "f:\n" + place +
            "\tldr\tx17, [x16, #8]\n\tadd\tx17, x17, #1\n\tstr\tx17, [x16, #8]\n\tfadd\td0, d1, d2\n\tret\n");
  // A block without a call, after each kind of jump. There is no red zone below the stack.
  const std::string kept = "\tstp\tx16, x17, [sp, #-16]!\n" + added + "\tldp\tx16, x17, [sp], #16\n";
  for (const std::string jump : {"b\t.L2", "beq\t.L2", "b.eq\t.L2", "cbz\tw0, .L2", "tbnz\tx1, #3, .L2"})
    CHECK(count_arithmetic("f:\n" + call + "\t" + jump + "\n.L2:\n" + two + "\tret\n") ==
          "f:\n\t" + jump + "\n.L2:\n" + kept + two + "\tret\n");
  CHECK(count_arithmetic("f:\n" + call + "\tblr\tx2\n.L2:\n" + two) == "f:\n" + added + "\tblr\tx2\n.L2:\n" + two);
  const std::string start = "f:\n\t.cfi_startproc\n", jump = "\tbne\t.L2\n.L2:\n";
  CHECK(count_arithmetic(start + "\t.cfi_def_cfa_register 29\n" + call + jump + two) ==
        start + "\t.cfi_def_cfa_register 29\n" + jump + kept + two);
  CHECK(count_arithmetic(start + "\t.cfi_def_cfa 31, 0\n" + call + jump + two) ==
        start + "\t.cfi_def_cfa 31, 0\n" + jump + "\tstp\tx16, x17, [sp, #-16]!\n\t.cfi_adjust_cfa_offset 16\n" +
            added + "\tldp\tx16, x17, [sp], #16\n\t.cfi_adjust_cfa_offset -16\n" + two);
  // Code of a shared library looks up where the counters are.
  CHECK(count_arithmetic("f:\n" + call + two, true).starts_with("f:\n\tadrp\tx16, :gottprel:tilewise_flop\n"));
}

TEST_CASE("16 bytes that AArch64 moves 8 by 8 call the unaligned hook", "[arithmetic][aarch64]") {
  const std::string read = "\tbl\t__tsan_read16\n", write = "\tbl\t__tsan_write16\n";
  const std::string odd_read = "\tbl\t__tsan_unaligned_read16\n", odd_write = "\tbl\t__tsan_unaligned_write16\n";
  const std::string halves = "\tldr\tx0, [x21, x19]\n\tstr\tx0, [x20, x19]\n\tldr\tx0, [x23, 8]\n";
  const std::string whole = "\tldp\tx0, x1, [x20]\n\tstp\tx0, x1, [x19]\n", vector = "\tldr\tq0, [x20]\n";
  CHECK(tell_alignment(write + read + halves) == odd_write + odd_read + halves);
  CHECK(tell_alignment(write + "\tstr\txzr, [x0]\n") == odd_write + "\tstr\txzr, [x0]\n");
  const std::string from_stack = "\tldr\tx0, [sp, 64]\n\tstr\tx0, [x20]\n",
                    to_stack = "\tldr\tx0, [x20]\n\tstr\tx0, [sp, 64]\n";
  CHECK(tell_alignment(write + from_stack + read + to_stack) == odd_write + from_stack + odd_read + to_stack);
  // Members that are used: nothing is known of the whole.
  const std::string parts = "\tldr\tx1, [x21, x19]\n\tldr\tx0, [x23, 8]\n\tfmov\td0, x1\n\tstr\tx2, [x3]\n";
  CHECK(tell_alignment(read + parts) == read + parts);
  // The first move decides; the stack's is not it, nor what the linker fills in.
  for (const std::string& same :
       {write + read + whole, read + vector, read + whole + halves, read + "\tstr\tx0, [sp, 16]\n" + whole,
        read + "\tldr\tx0, [x0, :got_lo12:v]\n" + whole, read + "\tb\t.L3\n" + halves,
        read + "\tcbnz\tx0, .L3\n" + halves})
    CHECK(tell_alignment(same) == same);
  const std::string frame = "\t.cfi_startproc\n\tmov\tx29, sp\n", slot = "\tldr\tx0, [x29, 24]\n\tstr\tx0, [x29, 40]\n";
  CHECK(tell_alignment(frame + read + slot + whole) == frame + read + slot + whole);
  CHECK(tell_alignment(frame + "\t.cfi_startproc\n" + read + slot) == frame + "\t.cfi_startproc\n" + odd_read + slot);
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

TEST_CASE("integers are not divided by zero on AArch64", "[arithmetic][aarch64]") {
  using tilewise::sim::look_at_divisions;
  const auto asked = [](const std::string& by) {
    return "\tcbnz\t" + by + ", 1f\n\tbl\ttilewise_divided_by_zero\n1:\n";
  };
  CHECK(look_at_divisions("f:\n\tsdiv\tw0, w1, w2\n\tret\n") == "f:\n" + asked("w2") + "\tsdiv\tw0, w1, w2\n\tret\n");
  CHECK(look_at_divisions("\tudiv\tx0, x0, x13") == asked("x13") + "\tudiv\tx0, x0, x13");
  for (const std::string same :
       {"", "\tfdiv\ts0, s1, s2\n", "sdiv:\n\t.string\t\"sdiv\"\n", "\tidivl\t%ecx\n\tdivq\t(%rsi)\n"})
    CHECK(look_at_divisions(same) == same);
}

TEST_CASE("jumps that reach 32 KB become long ones on AArch64", "[arithmetic][aarch64]") {
  using tilewise::sim::lengthen_jumps;
  CHECK(lengthen_jumps("f:\n\ttbz\tx0, 63, .L2\n\tret\n") == "f:\n\ttbnz\tx0, 63, 1f\n\tb\t.L2\n1:\n\tret\n");
  CHECK(lengthen_jumps("\ttbnz\tw1, #3, .L7") == "\ttbz\tw1, #3, 1f\n\tb\t.L7\n1:\n");
  for (const std::string same :
       {"", "\tcbz\tw0, .L2\n.L2:\n\tbne\t.L2", "tbz:\n\tret\n", "\ttestb\t%al, %al\n\tjne\t.L3\n"})
    CHECK(lengthen_jumps(same) == same);
}
