#include "known_bits.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "assembly.hpp"
#include "known_bits_state.hpp"

namespace tilewise::sim {
namespace known_bits {

Line read_line(std::string_view text, bool aarch64) {
  Line line{text, {}, {}, {}};
  std::string_view code = text.substr(0, std::min(aarch64 ? text.find("//") : text.find('#'), text.size()));
  if (!code.empty() && code[0] != '\t' && code[0] != ' ') {
    code = trimmed(code);
    if (!code.empty() && code.back() == ':') line.label = code.substr(0, code.size() - 1);
    return line;
  }
  code = trimmed(code);
  if (code.empty() || code[0] == '.') return line;
  const std::size_t blank = std::min(code.find_first_of(" \t"), code.size());
  line.mnemonic = code.substr(0, blank);
  std::string_view rest = trimmed(code.substr(blank));
  int open = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= rest.size() && !rest.empty(); ++i) {
    if (i < rest.size() && (rest[i] == '(' || rest[i] == '[')) ++open;
    if (i < rest.size() && (rest[i] == ')' || rest[i] == ']')) --open;
    if (i == rest.size() || (rest[i] == ',' && open == 0)) {
      line.operands.push_back(trimmed(rest.substr(from, i - from)));
      from = i + 1;
    }
  }
  return line;
}

Bits returned(std::string_view function) {
  // nvcc aligns shared variables and the dynamic array so that 16 bytes can be moved at once.
  if (function.find("14shared_address") != std::string_view::npos ||
      function.find("14dynamic_shared") != std::string_view::npos)
    return kPlace;
  if (function == "_ZN8tilewise3sim8aligned8EPVKv") return 3;
  return function == "_ZN8tilewise3sim9aligned16EPVKv" ? 4 : 0;
}

namespace {

// Registers of x86-64: rax rcx rdx rbx rsp rbp rsi rdi r8 .. r15

/// Number of the register that `name` ("%eax") is a part of, its width in bytes; -1 for others, such as %xmm0.
struct Register {
  int number = -1;
  int bytes = 0;
};

Register register_of(std::string_view name) {
  static const auto& table = *new std::unordered_map<std::string_view, Register>([] {
    static constexpr std::array<std::array<const char*, 4>, 8> kOld = {{{"%rax", "%eax", "%ax", "%al"},
                                                                        {"%rcx", "%ecx", "%cx", "%cl"},
                                                                        {"%rdx", "%edx", "%dx", "%dl"},
                                                                        {"%rbx", "%ebx", "%bx", "%bl"},
                                                                        {"%rsp", "%esp", "%sp", "%spl"},
                                                                        {"%rbp", "%ebp", "%bp", "%bpl"},
                                                                        {"%rsi", "%esi", "%si", "%sil"},
                                                                        {"%rdi", "%edi", "%di", "%dil"}}};
    static constexpr std::array<std::array<const char*, 4>, 8> kNew = {{{"%r8", "%r8d", "%r8w", "%r8b"},
                                                                        {"%r9", "%r9d", "%r9w", "%r9b"},
                                                                        {"%r10", "%r10d", "%r10w", "%r10b"},
                                                                        {"%r11", "%r11d", "%r11w", "%r11b"},
                                                                        {"%r12", "%r12d", "%r12w", "%r12b"},
                                                                        {"%r13", "%r13d", "%r13w", "%r13b"},
                                                                        {"%r14", "%r14d", "%r14w", "%r14b"},
                                                                        {"%r15", "%r15d", "%r15w", "%r15b"}}};
    std::unordered_map<std::string_view, Register> all;
    for (int i = 0; i < 8; ++i) {
      for (int size = 0; size < 4; ++size) {
        all[kOld[static_cast<std::size_t>(i)][static_cast<std::size_t>(size)]] = {i, 8 >> size};
        all[kNew[static_cast<std::size_t>(i)][static_cast<std::size_t>(size)]] = {i + 8, 8 >> size};
      }
    }
    for (const char* high : {"%ah", "%bh", "%ch", "%dh"})
      all[high] = {high[1] == 'a' ? 0 : high[1] == 'c' ? 1 : high[1] == 'd' ? 2 : 3, 1};
    return all;
  }());
  const auto found = table.find(name);
  return found == table.end() ? Register{} : found->second;
}

/// Follows one function's instructions.
class Function {
 public:
  Function(std::vector<Line>& lines, bool aarch64) : lines_(lines), aarch64_(aarch64) {
    if (aarch64) find_frame();
  }

  /// Calls `known(line, bits)` for every call of a hook that an address of known end is passed to.
  template <class Known>
  void analyse(Known known) {
    find_blocks();
    if (blocks_.empty()) return;
    std::vector<std::optional<State>> in(blocks_.size());
    in[0] = State{};
    std::vector<std::size_t> open{0};
    for (std::size_t b = 1; b < blocks_.size(); ++b) {
      // Reached in ways that the instructions do not show: tables of jumps, exceptions.
      if (!blocks_[b].entered && blocks_[b].named) in[b] = State{}, open.push_back(b);
    }
    while (!open.empty()) {
      const std::size_t b = open.back();
      open.pop_back();
      State state = *in[b];
      for (std::size_t i = blocks_[b].begin; i < blocks_[b].end; ++i) follow(lines_[i], state);
      for (std::size_t next : blocks_[b].next) {
        if (!in[next]) {
          in[next] = state;
          open.push_back(next);
        } else if (in[next]->meet(state)) {
          open.push_back(next);
        }
      }
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (!in[b]) continue;
      State state = *in[b];
      for (std::size_t i = blocks_[b].begin; i < blocks_[b].end; ++i) {
        const std::string_view name = callee(lines_[i]);
        const Bits bits = state.registers[aarch64_ ? 0 : kRdi];  // of the first argument
        if (has_prefix(name, "__tsan_") && bits >= 3) known(lines_[i], bits);
        follow(lines_[i], state);
      }
    }
  }

 private:
  static constexpr int kRax = 0, kRdi = 7;
  struct Block {
    std::size_t begin, end;
    std::vector<std::size_t> next;
    bool named = false;
    bool entered = false;  // some instruction leads to it
  };

  /// ".L12" and clang's ".LBB3_12"; others, such as ".LVL12", are marks for debuggers.
  static bool is_target(std::string_view label) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    return label.size() > 2 && label[0] == '.' &&
           (digit(label[2]) || (has_prefix(label, ".LBB") && label.find('_') != std::string_view::npos));
  }

  static bool never_returns(const Line& line) {
    const std::string_view name = callee(line);
    return name == "_Unwind_Resume" || name == "abort" || name == "__stack_chk_fail" || has_prefix(name, "__cxa_") ||
           has_prefix(name, "_ZSt9terminate") || has_prefix(name, "_ZN8tilewise3sim4trap") ||
           has_prefix(name, "_ZN8tilewise3sim13assert_failed") ||
           has_prefix(name, "_ZN8tilewise3sim14promise_broken") || has_prefix(name, "_ZN8tilewise3sim11unsupported");
  }

  void find_blocks() {
    std::unordered_map<std::string_view, std::size_t> block_of;
    bool fresh = true;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (is_target(lines_[i].label)) fresh = true;
      if (fresh) {
        blocks_.push_back({i, i, {}});
        blocks_.back().named = is_target(lines_[i].label);
        fresh = false;
      }
      if (!lines_[i].label.empty()) block_of[lines_[i].label] = blocks_.size() - 1;
      blocks_.back().end = i + 1;
      const std::string_view m = lines_[i].mnemonic;
      if (is_jump(m) || has_prefix(m, "ret") || never_returns(lines_[i])) fresh = true;
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const Line& last = lines_[blocks_[b].end - 1];
      const auto leads_to = [&](std::size_t to) {
        blocks_[b].next.push_back(to);
        blocks_[to].entered = true;
      };
      if (is_jump(last.mnemonic) && !last.operands.empty()) {
        const auto target = block_of.find(last.operands.back());
        if (target != block_of.end()) leads_to(target->second);
      }
      const bool falls_through = last.mnemonic != "jmp" && last.mnemonic != "b" && last.mnemonic != "br" &&
                                 !has_prefix(last.mnemonic, "ret") && !never_returns(last);
      if (falls_through && b + 1 < blocks_.size()) leads_to(b + 1);
    }
  }

  /// The place on the stack that "24(%rsp)" is.
  static std::optional<long> slot(std::string_view operand) {
    if (!has_suffix(operand, "(%rsp)")) return std::nullopt;
    const std::string_view offset = operand.substr(0, operand.size() - 6);
    return offset.empty() ? std::optional<long>(0) : number(offset);
  }

  static Bits of(std::string_view operand, const State& state) {
    if (operand.empty()) return 0;
    if (operand[0] == '$') return kAll;
    if (operand[0] == '%') {
      const Register r = register_of(operand);
      return r.number < 0 ? 0 : state.registers[static_cast<std::size_t>(r.number)];
    }
    if (const auto at = slot(operand)) {
      const auto found = state.slots.find(*at);
      if (found != state.slots.end()) return found->second.bits;
    }
    return 0;
  }

  /// The address that "8(%rax,%rbx,4)" is.
  static Bits address(std::string_view operand, const State& state) {
    const std::size_t open = operand.find('(');
    if (open == std::string_view::npos || operand.back() != ')') return 0;
    if (open != 0 && !number(operand.substr(0, open))) return 0;
    std::array<std::string_view, 3> parts{};
    std::string_view rest = operand.substr(open + 1, operand.size() - open - 2);
    for (std::size_t n = 0; n < 3; ++n) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      parts[n] = trimmed(rest.substr(0, comma));
      rest = comma < rest.size() ? rest.substr(comma + 1) : std::string_view();
    }
    Bits bits = parts[0].empty() ? kAll : of(parts[0], state);
    if (!parts[1].empty()) bits = std::min(bits, of(parts[1], state) + trailing_zeros(number(parts[2]).value_or(1)));
    return bits;
  }

  static void set(std::string_view operand, Bits bits, State& state, int bytes) {
    if (operand.empty()) return;
    bits = std::clamp(bits, 0, kAll);
    if (operand[0] == '%') {
      const Register r = register_of(operand);
      if (r.number >= 0) state.registers[static_cast<std::size_t>(r.number)] = r.bytes < 4 ? 0 : bits;
    } else if (const auto at = slot(operand)) {
      state.forget_slots(*at, bytes);
      if (bits > 0 && (bytes == 4 || bytes == 8)) state.slots[*at] = {bits, bytes};
    }
  }

  static int width(std::string_view mnemonic) {
    switch (mnemonic.empty() ? ' ' : mnemonic.back()) {
      case 'b':
        return 1;
      case 'w':
        return 2;
      case 'l':
        return 4;
      case 's':
      case 'd':
        return 8;
      default:
        return 8;
    }
  }

  void follow(const Line& line, State& state) const {
    if (aarch64_)
      step_aarch64(line, state, frame_);
    else
      step_x86_64(line, state);
  }

  // x29, where it is a second name of the stack: mov x29, sp; add x29, sp, 16.
  void find_frame() {
    for (const Line& line : lines_) {
      const auto& o = line.operands;
      if ((line.mnemonic != "mov" && line.mnemonic != "add") || o.size() < 2 || o[0] != "x29" || o[1] != "sp") continue;
      frame_ = o.size() == 2 ? 0 : number(o[2].substr(o[2][0] == '#' ? 1 : 0));
      return;
    }
  }

  static void step_x86_64(const Line& line, State& state) {
    std::string_view m = line.mnemonic;
    if (m.empty() || m == "nop" || m[0] == 'j') return;
    const auto& o = line.operands;
    if (m == "call" || m == "callq") {
      for (const char* lost : {"%rax", "%rcx", "%rdx", "%rsi", "%rdi", "%r8", "%r9", "%r10", "%r11"})
        set(lost, 0, state, 8);
      state.registers[kRax] = returned(callee(line));
      return;
    }
    if (m == "cltq" || m == "cwtl") return;  // widens rax
    if (m == "cqto" || m == "cltd") return set("%rdx", 0, state, 8);
    if (o.empty()) return;
    if (has_prefix(m, "cmp") || has_prefix(m, "test") || has_prefix(m, "push") || has_prefix(m, "ucomi") ||
        has_prefix(m, "comi"))
      return;
    const std::string_view to = o.back();
    if (has_prefix(m, "lea") && o.size() == 2) return set(to, address(o[0], state), state, width(m));
    if ((m == "movl" || m == "movq" || m == "mov" || m == "movabsq" || m == "movslq") && o.size() == 2)
      return set(to, of(o[0], state), state, width(m));
    if ((has_prefix(m, "movz") || has_prefix(m, "movs")) && o.size() == 2 && to[0] == '%' && m.size() == 6)
      return set(to, 0, state, 8);
    if (has_prefix(m, "cmov") && o.size() == 2) return set(to, std::min(of(o[0], state), of(to, state)), state, 8);
    const std::string_view operation =
        !m.empty() && (m.back() == 'l' || m.back() == 'q') && m != "sal" && m != "shl" ? m.substr(0, m.size() - 1) : m;
    const int bytes = m.back() == 'l' ? 4 : 8;
    if (operation == "imul" && o.size() == 3) {
      const auto factor = o[0][0] == '$' ? number(o[0].substr(1)) : std::nullopt;
      return set(to, factor ? of(o[1], state) + trailing_zeros(*factor) : 0, state, bytes);
    }
    if (operation == "imul" && o.size() == 1) {
      set("%rax", 0, state, 8);
      return set("%rdx", 0, state, 8);
    }
    if (operation == "xor" && o.size() == 2 && o[0] == to) return set(to, kAll, state, bytes);
    if (o.size() == 2 &&
        (operation == "add" || operation == "sub" || operation == "or" || operation == "xor" || operation == "imul"))
      return set(to, std::min(of(o[0], state), of(to, state)), state, bytes);
    if (operation == "and" && o.size() == 2) {
      const auto bits = o[0][0] == '$' ? number(o[0].substr(1)) : std::nullopt;
      return set(to, std::max(std::min(of(o[0], state), of(to, state)), bits ? trailing_zeros(*bits) : 0), state,
                 bytes);
    }
    if (operation == "neg" || operation == "not" || operation == "inc" || operation == "dec") return;
    if (operation == "sal" || operation == "shl" || operation == "shr" || operation == "sar") {
      const auto by = o.size() == 1 ? std::optional<long>(1) : o[0][0] == '$' ? number(o[0].substr(1)) : std::nullopt;
      if (!by) return set(to, 0, state, bytes);
      const Bits bits = of(to, state), moved = static_cast<Bits>(*by);
      if (bits == kAll) return;
      return set(to, operation[2] == 'r' ? bits - moved : bits + moved, state, bytes);
    }
    if (has_prefix(m, "div") || has_prefix(m, "idiv") || has_prefix(m, "mul")) {
      set("%rax", 0, state, 8);
      set("%rdx", 0, state, 8);
      if (o.size() == 1) return;
    }
    // All others: what they write is not known. movss and kin write 4 bytes, movaps and kin 16.
    set(to, 0, state,
        has_suffix(m, "ss")   ? 4
        : has_suffix(m, "sd") ? 8
        : m.find("ps") != std::string_view::npos || m.find("pd") != std::string_view::npos ||
                m.find("dq") != std::string_view::npos
            ? 16
            : 8);
  }

  std::vector<Line>& lines_;
  bool aarch64_;
  std::optional<long> frame_;  // of AArch64: x29 less sp
  std::vector<Block> blocks_;
};

}  // namespace
}  // namespace known_bits

std::string tell_known_bits(const std::string& assembly) {
  using namespace known_bits;
  std::string out;
  out.reserve(assembly.size() + assembly.size() / 64);
  const bool aarch64 = is_aarch64(assembly);
  std::vector<Line> function;
  bool inside = false;
  const auto finish = [&] {
    std::map<const Line*, std::string> renamed;
    Function(function, aarch64).analyse([&](const Line& line, Bits bits) {
      std::string_view name = callee(line);
      const bool read = has_prefix(name, "__tsan_read");
      if (!read && !has_prefix(name, "__tsan_write")) return;
      const std::string_view size = name.substr(std::string_view(read ? "__tsan_read" : "__tsan_write").size());
      if (size != "1" && size != "2" && size != "4" && size != "8") return;
      if (size == "8" && bits < 4) return;
      const std::size_t at = static_cast<std::size_t>(name.data() - line.text.data());
      std::string text(line.text);
      text.replace(at, name.size(),
                   (read ? "tilewise_read" : "tilewise_write") + std::string(size) +
                       (bits < 4        ? "_known3"
                        : bits < kPlace ? "_known4"
                                        : "_known5"));
      renamed[&line] = text;
    });
    for (const Line& line : function) {
      const auto other = renamed.find(&line);
      out += other == renamed.end() ? line.text : std::string_view(other->second);
      out += '\n';
    }
    function.clear();
  };
  for (std::size_t begin = 0; begin < assembly.size();) {
    const std::size_t end = std::min(assembly.find('\n', begin), assembly.size());
    const std::string_view text(assembly.data() + begin, end - begin);
    if (inside) {
      function.push_back(read_line(text, aarch64));
      if (text.find(".cfi_endproc") != std::string_view::npos) {
        finish();
        inside = false;
      }
    } else {
      out += text;
      out += '\n';
      inside = text.find(".cfi_startproc") != std::string_view::npos;
    }
    begin = end + 1;
  }
  if (inside) finish();
  return out;
}

}  // namespace tilewise::sim
