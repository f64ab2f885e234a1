// Floating-point operations in assembly, and what becomes of the calls that mark basic blocks.
#include "rewriter/arithmetic.hpp"

#include <string>

#include "catch.hpp"

using tilewise::sim::count_arithmetic;
using tilewise::sim::flop_of;

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
  const std::string counter = "\tmovq\ttilewise_flop@GOTPCREL(%rip), %rax\n";
  CHECK(count_arithmetic("") == "");
  CHECK(count_arithmetic("f:\n\tret\n") == "f:\n\tret\n");
  CHECK(count_arithmetic("f:\n" + call + "\tret") == "f:\n\tret");
  CHECK(count_arithmetic("f:\n" + call + "\tmulss\t%xmm1, %xmm0\n\taddss\t%xmm1, %xmm0\n\tret\n") ==
        "f:\n" + counter + "\taddq\t$2, (%rax)\n\tmulss\t%xmm1, %xmm0\n\taddss\t%xmm1, %xmm0\n\tret\n");
  CHECK(count_arithmetic(call + "\tmulsd\t%xmm1, %xmm0\n.L2:\n" + call + "\taddss\t%xmm1, %xmm0\n" + call +
                         "\tret\n") == counter + "\taddq\t$1, 8(%rax)\n\tmulsd\t%xmm1, %xmm0\n.L2:\n" + counter +
                                           "\taddq\t$1, (%rax)\n\taddss\t%xmm1, %xmm0\n\tret\n");
  // Arithmetic of a function without calls belongs to no block of the function before.
  CHECK(count_arithmetic(call + "\tret\n\t.cfi_startproc\n\tmulsd\t%xmm1, %xmm0\n") ==
        "\tret\n\t.cfi_startproc\n\tmulsd\t%xmm1, %xmm0\n");
}
