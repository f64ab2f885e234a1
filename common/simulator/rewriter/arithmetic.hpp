// Floating-point operations, counted where they are executed: simcc has the compiler write assembly in which every basic
// block begins with a call of __sanitizer_cov_trace_pc (-fsanitize-coverage=trace-pc), and turns each of these calls into an
// addition to a counter, by as many operations as the block has. Blocks without arithmetic lose the call.
#pragma once

#include <string>
#include <string_view>

namespace tilewise::sim {

/// FLOP of one instruction or call, by the operands' width.
struct Flop {
  unsigned single = 0;  ///< 32 bits
  unsigned twice = 0;   ///< 64 bits
};

/// Operations of one line of assembly: an addition, subtraction, multiplication, division or square root is one; fma is
/// two; comparisons, minima, conversions and everything else none.
Flop flop_of(std::string_view line);

/// Assembly with the calls replaced. The counters are `thread_local std::uint64_t tilewise_flop[2]`, single and double precision.
/// `in_library`: the code may become part of a shared library.
std::string count_arithmetic(const std::string& assembly, bool in_library = false);

/// Assembly in which 16-byte accesses of types that are aligned to 8 bytes call the unaligned hook. The compilers'
/// thread sanitizers call __tsan_read16 for these and for types aligned to 16 bytes, such as float4, alike. The instruction
/// that then moves the 16 bytes tells them apart: movups or movdqu takes any address, movaps or movdqa multiples of 16 only. On AArch64
/// all take any address; there g++ has to be told -mstrict-align, and moves 8 bytes at a time what is aligned to 8.
std::string tell_alignment(const std::string& assembly);

/// False where the assembly language is not known: do not ask for the calls then, and nothing is counted.
bool can_count_arithmetic();

}  // namespace tilewise::sim
