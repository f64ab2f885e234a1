// From code addresses to names and source lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewise::sim {

struct SourceLine {
  std::string file;  ///< path as the compiler saw it; empty when unknown
  int line = 0;
};

/// First byte of the function that holds `pc`, or `pc` itself when unknown.
const void* function_start(const void* pc);

/// Demangled signature of the function that holds `pc`, e.g. "void tiled<32>(float const*, int)", or a hexadecimal address.
std::string function_name(const void* pc);
/// The same as compilers write it, to the end of the program; null where there is none.
const char* mangled_name(const void* pc);

/// The user's source line of a call at `return_address`: of the innermost inlined function outside the simulator's headers.
SourceLine source_line(const void* return_address);

/// The same for many at once, which costs one look at the debug information.
std::vector<SourceLine> source_lines(const std::vector<const void*>& return_addresses);

/// "file.cu:12" of a call at `return_address`, and of the calls that were inlined around it, innermost first; without the
/// simulator's headers.
std::vector<std::string> call_path(const void* return_address);

/// The instruction that a signal interrupted, by what its handler was given; nullptr where that isn't known.
void* interrupted_instruction(void* context);

/// Where the program is in its own code: at `first`, if that's in it, else in the innermost function of its own that is being
/// called. nullptr: nowhere. For handlers of signals, which may come in a function of the simulator's or of a library's.
const void* place_in_program(const void* first = nullptr);

/// For a program that soon may neither open files nor start others: keeps its own symbols and folder at hand. From then on
/// lines are asked for at `descriptor`, a socket: a question is a line, an answer its length as 32 bits, and text.
/// "lines 0x1234 0x1250": what `addr2line -a -i` prints for these addresses of the executable.
/// "text 12 /path/a.cu": that line of that file.
void ask_for_lines(int descriptor);

/// Whether that is so; and the answer, "" where there is none.
bool lines_are_asked_for();
std::string answer_to(const std::string& question);

/// The path as messages show it: relative to the current folder when it lies below that.
std::string shown_path(const std::string& file);

/// "file.cu:12", or the function's name when the line is unknown.
std::string describe_site(const void* return_address);
/// How often that has been asked for, which is to be seldom: in a message, and that only when it is made.
std::uint64_t sites_described();

}  // namespace tilewise::sim
