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
  // x86: [v] operation (s|p)(s|d), such as addss, vmulsd, vfmadd231ss, mulps.
  std::string_view name = instruction.mnemonic;
  if (name.size() < 5) return {};
  const std::string_view type = name.substr(name.size() - 2);
  const std::string_view operation = without_prefix(name.substr(0, name.size() - 2), "v");
  unsigned count = 0;
  static constexpr std::array<std::string_view, 5> kOne = {"add", "sub", "mul", "div", "sqrt"};
  static constexpr std::array<std::string_view, 4> kTwo = {"fmadd", "fmsub", "fnmadd", "fnmsub"};
  if (std::find(kOne.begin(), kOne.end(), operation) != kOne.end()) count = 1;
  for (std::string_view two : kTwo)
    if (operation.size() == two.size() + 3 && operation.substr(0, two.size()) == two) count = 2;  // fmadd231
  if (type == "ss") return {count, 0};
  if (type == "sd") return {0, count};
  if (type == "ps") return {4 * count, 0};
  if (type == "pd") return {0, 2 * count};
  return {};
}

bool can_count_arithmetic() {
#if defined(__x86_64__) && !defined(__APPLE__)
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
    const Instruction instruction = parse(line);
    if (!instruction.mnemonic.empty() && instruction.mnemonic[0] == 'j')
      targets.insert(instruction.operands.substr(0, instruction.operands.find_first_of(" \t#")));
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

std::string additions(const Flop& flop, const FlopCounters& to) {
  std::string text = to.begin;
  if (flop.single != 0) text += "\taddq\t$" + std::to_string(flop.single) + ", " + to.single + "\n";
  if (flop.twice != 0) text += "\taddq\t$" + std::to_string(flop.twice) + ", " + to.twice + "\n";
  return text;
}

// The same where registers, flags and the red zone below the stack are in use: leaq adds and leaves the flags alone, which to save
// and restore costs more than all the rest. Whoever walks the stack from here, as the watchdog's signal does, must find the
// caller: where frames are described by rsp, the description follows it.
std::string additions_anywhere(const Flop& flop, const FlopCounters& to, bool frame_by_rsp) {
  const auto moved = [&](int bytes) {
    return frame_by_rsp ? "\t.cfi_adjust_cfa_offset " + std::to_string(bytes) + "\n" : std::string();
  };
  const auto added = [](unsigned n, const std::string& place) {
    return n == 0 ? std::string()
                  : "\tmovq\t" + place + ", %rcx\n\tleaq\t" + std::to_string(n) + "(%rcx), %rcx\n\tmovq\t%rcx, " +
                        place + "\n";
  };
  const auto kept = [&](const char* name) { return std::string("\tpushq\t") + name + "\n" + moved(8); };
  const auto restored = [&](const char* name) { return std::string("\tpopq\t") + name + "\n" + moved(-8); };
  return "\tleaq\t-128(%rsp), %rsp\n" + moved(128) + (to.register_needed ? kept("%rax") : "") + kept("%rcx") +
         to.begin + added(flop.single, to.single) + added(flop.twice, to.twice) + restored("%rcx") +
         (to.register_needed ? restored("%rax") : "") + "\tleaq\t128(%rsp), %rsp\n" + moved(-128);
}

// Whether the assembler describes the frame by rsp at the line that was followed last.
class FrameByRsp {
 public:
  void follow(std::string_view line) {
    const std::size_t name = line.find(".cfi_");
    if (name == std::string_view::npos) return;
    const std::string_view directive = line.substr(name);
    const auto is = [&](std::string_view start) { return directive.substr(0, start.size()) == start; };
    const auto operand_is_rsp = [&] {
      const std::size_t operand = directive.find_first_not_of(" \t%", directive.find_first_of(" \t"));
      return operand != std::string_view::npos && (directive[operand] == '7' || directive.substr(operand, 3) == "rsp");
    };
    if (is(".cfi_startproc")) {
      by_rsp_ = true;
      remembered_.clear();
    } else if (is(".cfi_endproc") || is(".cfi_escape")) {
      by_rsp_ = false;
    } else if (is(".cfi_def_cfa_register") || is(".cfi_def_cfa ") || is(".cfi_def_cfa\t")) {
      by_rsp_ = operand_is_rsp();
    } else if (is(".cfi_remember_state")) {
      remembered_.push_back(by_rsp_);
    } else if (is(".cfi_restore_state") && !remembered_.empty()) {
      by_rsp_ = remembered_.back();
      remembered_.pop_back();
    }
  }
  explicit operator bool() const { return by_rsp_; }

 private:
  bool by_rsp_ = false;
  std::vector<bool> remembered_;
};

}  // namespace

std::string count_arithmetic(const std::string& assembly, bool in_library) {
  const FlopCounters counters(in_library);
  const std::set<std::string_view> targets = jump_targets(assembly);
  std::string out;
  out.reserve(assembly.size());
  std::size_t copied = 0;  // of `assembly`
  // The block's call, whose place the additions take: it leaves the flags and rax undefined, so both are free to use. A block that
  // the compiler made later, of a choice between two values, has none: its additions go in front of its first operation.
  enum class Block { none, with_call, without_call } block = Block::none;
  std::size_t at = 0, go_on_at = 0;
  Flop flop;
  FrameByRsp frame;
  bool frame_at = false;  // `frame` at `at`

  const auto finish_block = [&] {
    const bool counts = flop.single + flop.twice != 0;
    if (block == Block::none || (block == Block::without_call && !counts)) return;
    out.append(assembly, copied, at - copied);
    if (counts)
      out += block == Block::with_call ? additions(flop, counters) : additions_anywhere(flop, counters, frame_at);
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
Move sixteen_bytes(const Instruction& instruction, bool frame_in_rbp) {
  const auto has = [&](std::string_view text) { return instruction.operands.find(text) != std::string_view::npos; };
  if (!has("(") || has("(%rsp") || (frame_in_rbp && has("(%rbp"))) return Move::none;
  const std::string_view name = without_prefix(instruction.mnemonic, "v");
  if (name == "movups" || name == "movupd" || name == "movdqu") return Move::unaligned;
  if (name == "movaps" || name == "movapd" || name == "movdqa") return Move::aligned;
  return Move::none;
}

}  // namespace

std::string tell_alignment(const std::string& assembly) {
  static constexpr std::string_view kRead = "__tsan_read16", kWrite = "__tsan_write16";
  std::string out;
  out.reserve(assembly.size());
  std::vector<std::size_t>
      open;  // calls in `out` whose instruction has not come yet: where "read16" or "write16" begins
  bool frame_in_rbp = false;
  for (std::size_t begin = 0; begin < assembly.size();) {
    const std::size_t end = std::min(assembly.find('\n', begin), assembly.size() - 1) + 1;
    const std::string_view line(assembly.data() + begin, end - begin);
    const Instruction instruction = parse(line.substr(0, line.size() - 1));
    if (line.find(".cfi_startproc") != std::string_view::npos) frame_in_rbp = false;
    if (instruction.mnemonic == "movq" && instruction.operands.starts_with("%rsp, %rbp")) frame_in_rbp = true;
    if (const std::string_view name = callee(instruction); name == kRead || name == kWrite) {
      open.push_back(out.size() + line.find(name) + std::string_view("__tsan_").size());
    } else if (const Move move = sixteen_bytes(instruction, frame_in_rbp); move != Move::none) {
      if (move == Move::unaligned)  // from the last one, so that the places of the others stay right
        for (std::size_t i = open.size(); i-- > 0;) out.insert(open[i], "unaligned_");
      open.clear();
    } else if (!name.empty() || (!instruction.mnemonic.empty() && instruction.mnemonic[0] == 'j') ||
               instruction.mnemonic == "ret" || instruction.mnemonic == "retq") {
      open.clear();  // it is moved otherwise, or not at all
    }
    out += line;
    begin = end;
  }
  return out;
}

}  // namespace tilewise::sim
