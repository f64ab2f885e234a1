#include "arithmetic.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "assembly.hpp"

namespace tilewise::sim {
namespace {

constexpr std::string_view kBlockBegins = "__sanitizer_cov_trace_pc";

std::string_view without_prefix(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix ? text.substr(prefix.size()) : text;
}

template <std::size_t n>
bool is_one_of(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What is computed in a register of AArch64, "s0", "d1" or "v2.4s", by `count` operations on each element.
Flop in_register(std::string_view name, unsigned count) {
  const auto digit = [&](std::size_t at) { return at < name.size() && name[at] >= '0' && name[at] <= '9'; };
  if (!digit(1)) return {};
  if (name[0] == 's') return {count, 0};
  if (name[0] == 'd') return {0, count};
  if (name[0] != 'v') return {};
  const std::string_view elements = name.substr(std::min(name.find('.'), name.size()));
  if (elements == ".2s") return {2 * count, 0};
  if (elements == ".4s") return {4 * count, 0};
  if (elements == ".2d") return {0, 2 * count};
  return {};
}

// AArch64: fadd s0, s1, s2. The operands tell it from x86's old fadd %st.
Flop flop_of_aarch64(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 8> kOne = {"fadd", "fsub",  "fmul", "fnmul",
                                                           "fdiv", "fsqrt", "fabd", "faddp"};
  static constexpr std::array<std::string_view, 6> kTwo = {"fmadd", "fmsub", "fnmadd", "fnmsub", "fmla", "fmls"};
  const std::string_view to = instruction.operands.substr(0, instruction.operands.find(','));
  if (is_one_of(instruction.mnemonic, kOne)) return in_register(to, 1);
  if (is_one_of(instruction.mnemonic, kTwo)) return in_register(to, 2);
  // fcvtzs w0, s0, 4: multiplies by 16 first.
  if (instruction.mnemonic != "fcvtzs" && instruction.mnemonic != "fcvtzu") return {};
  const std::string_view rest = instruction.operands.substr(std::min(to.size() + 1, instruction.operands.size()));
  const std::size_t comma = rest.find(',');
  return comma == std::string_view::npos ? Flop{} : in_register(without_blanks(rest.substr(0, comma)), 1);
}

}  // namespace

Flop flop_of(std::string_view line) {
  const Instruction instruction = parse(line);
  if (instruction.mnemonic.empty()) return {};
  if (const std::string_view name = callee(instruction); !name.empty()) {
    if (name == "fmaf") return {2, 0};
    if (name == "fma") return {0, 2};
    if (name == "sqrtf") return {1, 0};
    if (name == "sqrt") return {0, 1};
    return {};
  }
  if (instruction.mnemonic[0] == 'f') return flop_of_aarch64(instruction);
  // x86: [v] operation (s|p)(s|d), such as addss, vmulsd, vfmadd231ss, mulps.
  std::string_view name = instruction.mnemonic;
  if (name.size() < 5) return {};
  const std::string_view type = name.substr(name.size() - 2);
  const std::string_view operation = without_prefix(name.substr(0, name.size() - 2), "v");
  unsigned count = 0;
  static constexpr std::array<std::string_view, 5> kOne = {"add", "sub", "mul", "div", "sqrt"};
  static constexpr std::array<std::string_view, 4> kTwo = {"fmadd", "fmsub", "fnmadd", "fnmsub"};
  if (is_one_of(operation, kOne)) count = 1;
  for (std::string_view two : kTwo)
    if (operation.size() == two.size() + 3 && operation.substr(0, two.size()) == two) count = 2;  // fmadd231
  if (type == "ss") return {count, 0};
  if (type == "sd") return {0, count};
  if (type == "ps") return {4 * count, 0};
  if (type == "pd") return {0, 2 * count};
  return {};
}

bool can_count_arithmetic() {
#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__APPLE__)
  return true;
#else
  return false;
#endif
}

namespace {

// The labels that something jumps to.
std::set<std::string_view> jump_targets(const std::string& assembly) {
  std::set<std::string_view> targets;
  for_each_line(assembly, [&](std::string_view line, std::size_t, std::size_t) {
    if (const std::string_view target = jump_target(parse(line)); !target.empty()) targets.insert(target);
  });
  return targets;
}

// Each OS thread has counters of its own, since other threads of the host compute while a kernel runs. A program has them at a
// known distance from the thread's pointer, fs; a shared library looks the distance up.
struct FlopCounters {
  explicit FlopCounters(bool in_library)
      : register_needed(in_library),
        begin(in_library ? "\tmovq\ttilewise_flop@GOTTPOFF(%rip), %rax\n" : ""),
        single(in_library ? "%fs:(%rax)" : "%fs:tilewise_flop@tpoff"),
        twice(in_library ? "%fs:8(%rax)" : "%fs:tilewise_flop@tpoff+8") {}

  bool register_needed;  // rax
  std::string begin, single, twice;
};

std::string additions_x86_64(const Flop& flop, bool in_library) {
  const FlopCounters to(in_library);
  std::string text = to.begin;
  if (flop.single != 0) text += "\taddq\t$" + std::to_string(flop.single) + ", " + to.single + "\n";
  if (flop.twice != 0) text += "\taddq\t$" + std::to_string(flop.twice) + ", " + to.twice + "\n";
  return text;
}

// In x16 and x17, which a call may change. AArch64 adds without touching flags.
std::string additions_aarch64(const Flop& flop, bool in_library) {
  constexpr unsigned kMost = 4095;  // that one instruction adds
  std::string text = in_library ? "\tadrp\tx16, :gottprel:tilewise_flop\n\tldr\tx16, [x16, "
                                  ":gottprel_lo12:tilewise_flop]\n\tmrs\tx17, tpidr_el0\n\tadd\tx16, x16, x17\n"
                                : "\tmrs\tx16, tpidr_el0\n\tadd\tx16, x16, #:tprel_hi12:tilewise_flop, lsl "
                                  "#12\n\tadd\tx16, x16, #:tprel_lo12_nc:tilewise_flop\n";
  const auto add = [&](unsigned n, const char* place) {
    if (n == 0) return;
    text += "\tldr\tx17, " + std::string(place) + "\n";
    for (; n != 0; n -= std::min(n, kMost)) text += "\tadd\tx17, x17, #" + std::to_string(std::min(n, kMost)) + "\n";
    text += "\tstr\tx17, " + std::string(place) + "\n";
  };
  add(flop.single, "[x16]");
  add(flop.twice, "[x16, #8]");
  return text;
}

// Who walks the stack from here, as the watchdog's signal does, must find the caller: where frames are described by the stack pointer, the
// description follows it.
std::string moved(int bytes, bool frame_by_sp) {
  return frame_by_sp ? "\t.cfi_adjust_cfa_offset " + std::to_string(bytes) + "\n" : std::string();
}

// The same where registers, flags and the red zone below the stack are in use: leaq adds and leaves the flags alone, which to save
// and restore costs more than all the rest.
std::string additions_anywhere_x86_64(const Flop& flop, bool in_library, bool frame_by_sp) {
  const FlopCounters to(in_library);
  const auto added = [](unsigned n, const std::string& place) {
    return n == 0 ? std::string()
                  : "\tmovq\t" + place + ", %rcx\n\tleaq\t" + std::to_string(n) + "(%rcx), %rcx\n\tmovq\t%rcx, " +
                        place + "\n";
  };
  const auto kept = [&](const char* name) { return std::string("\tpushq\t") + name + "\n" + moved(8, frame_by_sp); };
  const auto restored = [&](const char* name) {
    return std::string("\tpopq\t") + name + "\n" + moved(-8, frame_by_sp);
  };
  return "\tleaq\t-128(%rsp), %rsp\n" + moved(128, frame_by_sp) + (to.register_needed ? kept("%rax") : "") +
         kept("%rcx") + to.begin + added(flop.single, to.single) + added(flop.twice, to.twice) + restored("%rcx") +
         (to.register_needed ? restored("%rax") : "") + "\tleaq\t128(%rsp), %rsp\n" + moved(-128, frame_by_sp);
}

std::string additions_anywhere_aarch64(const Flop& flop, bool in_library, bool frame_by_sp) {
  return "\tstp\tx16, x17, [sp, #-16]!\n" + moved(16, frame_by_sp) + additions_aarch64(flop, in_library) +
         "\tldp\tx16, x17, [sp], #16\n" + moved(-16, frame_by_sp);
}

// Whether the assembler describes the frame by the stack pointer at the line that was followed last.
class FrameByStackPointer {
 public:
  void follow(std::string_view line) {
    const std::size_t name = line.find(".cfi_");
    if (name == std::string_view::npos) return;
    const std::string_view directive = line.substr(name);
    const auto is = [&](std::string_view start) { return directive.substr(0, start.size()) == start; };
    const auto operand_is_sp = [&] {
      std::string_view name = directive.substr(std::min(directive.find_first_of(" \t"), directive.size()));
      name.remove_prefix(std::min(name.find_first_not_of(" \t%"), name.size()));
      name = name.substr(0, name.find_first_of(", \t"));
      return name == "7" || name == "rsp" || name == "31" || name == "sp";  // by their numbers in DWARF
    };
    if (is(".cfi_startproc")) {
      by_sp_ = true;
      remembered_.clear();
    } else if (is(".cfi_endproc") || is(".cfi_escape")) {
      by_sp_ = false;
    } else if (is(".cfi_def_cfa_register") || is(".cfi_def_cfa ") || is(".cfi_def_cfa\t")) {
      by_sp_ = operand_is_sp();
    } else if (is(".cfi_remember_state")) {
      remembered_.push_back(by_sp_);
    } else if (is(".cfi_restore_state") && !remembered_.empty()) {
      by_sp_ = remembered_.back();
      remembered_.pop_back();
    }
  }
  explicit operator bool() const { return by_sp_; }

 private:
  bool by_sp_ = false;
  std::vector<bool> remembered_;
};

}  // namespace

std::string count_arithmetic(const std::string& assembly, bool in_library) {
  const bool aarch64 = is_aarch64(assembly);
  const std::set<std::string_view> targets = jump_targets(assembly);
  std::string out;
  out.reserve(assembly.size());
  std::size_t copied = 0;  // of `assembly`
  // The block's call, whose place the additions take: it leaves the flags and some registers undefined, so they are free to use. A block that
  // the compiler made later, of a choice between two values, has none: its additions go in front of its first operation.
  enum class Block { none, with_call, without_call } block = Block::none;
  std::size_t at = 0, go_on_at = 0;
  Flop flop;
  FrameByStackPointer frame;
  bool frame_at = false;  // `frame` at `at`

  const auto finish_block = [&] {
    const bool counts = flop.single + flop.twice != 0;
    if (block == Block::none || (block == Block::without_call && !counts)) return;
    out.append(assembly, copied, at - copied);
    if (counts && block == Block::with_call)
      out += aarch64 ? additions_aarch64(flop, in_library) : additions_x86_64(flop, in_library);
    else if (counts)
      out += aarch64 ? additions_anywhere_aarch64(flop, in_library, frame_at)
                     : additions_anywhere_x86_64(flop, in_library, frame_at);
    copied = go_on_at;
  };
  const auto begin_block = [&](Block kind, std::size_t begin, std::size_t end) {
    finish_block();
    block = kind;
    at = begin;
    go_on_at = end;
    flop = {};
    frame_at = bool(frame);
  };

  for_each_line(assembly, [&](std::string_view line, std::size_t begin, std::size_t end) {
    if (line.empty()) return;
    frame.follow(line);
    if (line[0] != '\t' && line[0] != ' ') {
      const bool is_target = targets.count(line.substr(0, line.find(':'))) != 0;
      if (is_target && block != Block::none) begin_block(Block::without_call, end, end);
    } else if (line.find(".cfi_startproc") != std::string_view::npos) {
      begin_block(Block::none, begin, begin);  // a function that is not instrumented has no calls
    } else if (callee(parse(line)) == kBlockBegins) {
      begin_block(Block::with_call, begin, end);
    } else if (block != Block::none) {
      const Flop more = flop_of(line);
      if (block == Block::without_call && flop.single + flop.twice == 0) {
        at = go_on_at = begin;
        frame_at = bool(frame);
      }
      flop.single += more.single;
      flop.twice += more.twice;
    }
  });
  finish_block();
  return out.append(assembly, copied, std::string::npos);
}

namespace {

enum class Move { none, aligned, unaligned };

// A vector instruction that loads or stores 16 bytes, not on the stack, where temporary values go. `frame_in_rbp`: rbp is a second name of
// the stack.
Move sixteen_bytes_x86_64(const Instruction& instruction, bool frame_in_rbp) {
  const auto has = [&](std::string_view text) { return instruction.operands.find(text) != std::string_view::npos; };
  if (!has("(") || has("(%rsp") || (frame_in_rbp && has("(%rbp"))) return Move::none;
  const std::string_view name = without_prefix(instruction.mnemonic, "v");
  if (name == "movups" || name == "movupd" || name == "movdqu") return Move::unaligned;
  if (name == "movaps" || name == "movapd" || name == "movdqa") return Move::aligned;
  return Move::none;
}

// The same of AArch64, whose instructions take any address. By -mstrict-align the compiler moves 16 bytes at once where they are aligned
// to 16 only. Else it copies them 8 by 8, each loaded and then stored; 8 bytes that are loaded alone may be half of an aligned struct whose
// members are used. A colon is in what the linker fills in.
Move sixteen_bytes_aarch64(const Instruction& instruction, const Instruction& before, bool frame_in_x29) {
  const auto elsewhere = [&](std::string_view operands) {
    const auto has = [&](std::string_view text) { return operands.find(text) != std::string_view::npos; };
    return has("[") && !has("[sp") && !has(":") && !(frame_in_x29 && has("[x29"));
  };
  const auto of = [](const Instruction& i) { return i.operands.substr(0, i.operands.find(',')); };  // its register
  const std::string_view name = instruction.mnemonic, moved = of(instruction);
  const bool pair = (name == "ldp" || name == "stp") && moved.starts_with('x');
  const bool vector = (name == "ldr" || name == "str") && moved.starts_with('q');
  if ((pair || vector) && elsewhere(instruction.operands)) return Move::aligned;
  if (name != "str" || !moved.starts_with('x')) return Move::none;
  const bool copied = before.mnemonic == "ldr" && of(before) == moved && elsewhere(before.operands);
  const bool stored =
      (moved == "xzr" || (before.mnemonic == "ldr" && of(before) == moved)) && elsewhere(instruction.operands);
  return copied || stored ? Move::unaligned : Move::none;
}

}  // namespace

std::string tell_alignment(const std::string& assembly) {
  static constexpr std::string_view kRead = "__tsan_read16", kWrite = "__tsan_write16";
  std::string out;
  out.reserve(assembly.size());
  std::vector<std::size_t>
      open;  // calls in `out` whose instruction has not come yet: where "read16" or "write16" begins
  const bool aarch64 = is_aarch64(assembly);
  bool framed = false;  // rbp or x29 is a second name of the stack
  Instruction before;
  for (std::size_t begin = 0; begin < assembly.size();) {
    const std::size_t end = std::min(assembly.find('\n', begin), assembly.size() - 1) + 1;
    const std::string_view line(assembly.data() + begin, end - begin);
    const Instruction instruction = parse(line.substr(0, line.size() - 1));
    if (line.find(".cfi_startproc") != std::string_view::npos) framed = false;
    if ((instruction.mnemonic == "movq" && instruction.operands.starts_with("%rsp, %rbp")) ||
        ((instruction.mnemonic == "mov" || instruction.mnemonic == "add") &&
         instruction.operands.starts_with("x29, sp")))
      framed = true;
    if (const std::string_view name = callee(instruction); name == kRead || name == kWrite) {
      open.push_back(out.size() + line.find(name) + std::string_view("__tsan_").size());
    } else if (const Move move = aarch64 ? sixteen_bytes_aarch64(instruction, before, framed)
                                         : sixteen_bytes_x86_64(instruction, framed);
               move != Move::none) {
      if (move == Move::unaligned)  // from the last one, so that the places of the others stay right
        for (std::size_t i = open.size(); i-- > 0;) out.insert(open[i], "unaligned_");
      open.clear();
    } else if (!name.empty() || is_jump(instruction.mnemonic) || instruction.mnemonic == "ret" ||
               instruction.mnemonic == "retq") {
      open.clear();  // it is moved otherwise, or not at all
    }
    if (!instruction.mnemonic.empty()) before = instruction;
    out += line;
    begin = end;
  }
  return out;
}

}  // namespace tilewise::sim
