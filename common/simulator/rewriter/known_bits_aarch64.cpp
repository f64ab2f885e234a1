// What instructions of AArch64 make of the last bits of values. Registers have their numbers; 31 is the register that is always 0, and
// nothing is kept of sp, which has the same number.
#include <algorithm>

#include "assembly.hpp"
#include "known_bits_state.hpp"

namespace tilewise::sim::known_bits {
namespace {

constexpr int kZero = 31;

/// The number of "x12" or "w12"; -1 for others.
int general_register(std::string_view name) {
  if (name == "xzr" || name == "wzr") return kZero;
  if (name.size() < 2 || name.size() > 3 || (name[0] != 'x' && name[0] != 'w')) return -1;
  const auto n = number(name.substr(1));
  return n && *n >= 0 && *n < kZero ? static_cast<int>(*n) : -1;
}

std::optional<long> immediate(std::string_view operand) {
  return number(operand.substr(!operand.empty() && operand[0] == '#' ? 1 : 0));
}

/// One instruction and what it does to the state.
class Step {
 public:
  Step(const Line& line, State& state, std::optional<long> frame)
      : m_(line.mnemonic), o_(line.operands), callee_(callee(line)), state_(state), frame_(frame) {}

  void run() {
    if (m_.empty() || o_.empty()) return;
    if (m_ == "bl" || m_ == "blr") return call();
    if (is_jump(m_) ||
        is_one_of({"cmp", "cmn", "tst", "ccmp", "ccmn", "fcmp", "fcmpe", "fccmp", "ret", "prfm", "nop", "hint"}))
      return;
    if (has_prefix(m_, "ld")) return load();
    if (has_prefix(m_, "st")) return store();
    if (o_[0] == "sp") return state_.slots.clear();
    compute();
  }

 private:
  bool is_one_of(std::initializer_list<std::string_view> names) const {
    return std::find(names.begin(), names.end(), m_) != names.end();
  }

  void set(std::string_view operand, Bits bits, std::optional<long> constant = std::nullopt) {
    const int r = general_register(operand);
    if (r < 0 || r == kZero) return;
    state_.registers[static_cast<std::size_t>(r)] = std::clamp(bits, 0, kAll);
    state_.constants[static_cast<std::size_t>(r)] = constant;
  }

  Bits of(std::string_view operand) const {
    if (immediate(operand)) return kAll;
    const int r = general_register(operand);
    if (r < 0) return 0;
    return r == kZero ? kAll : state_.registers[static_cast<std::size_t>(r)];
  }

  std::optional<long> constant(std::string_view operand) const {
    const int r = general_register(operand);
    if (r == kZero) return 0;
    return r < 0 ? std::nullopt : state_.constants[static_cast<std::size_t>(r)];
  }

  static Bits shifted(Bits bits, long by) { return bits == kAll ? kAll : bits + static_cast<Bits>(by); }

  /// The operand at `i`, and how it is shifted or extended: "w1, sxtw 2" or "x1, lsl 3".
  Bits modified(std::size_t i) const {
    const Bits bits = of(o_[i]);
    if (i + 1 >= o_.size()) return bits;
    const std::string_view how = o_[i + 1];
    const std::size_t blank = how.find(' ');
    const auto by = blank == std::string_view::npos ? std::optional<long>(0) : immediate(trimmed(how.substr(blank)));
    if (!by) return 0;
    if (has_prefix(how, "lsl") || has_prefix(how, "sxt") || has_prefix(how, "uxt")) return shifted(bits, *by);
    if (has_prefix(how, "lsr") || has_prefix(how, "asr")) return shifted(bits, -*by);
    return 0;
  }

  Bits product(std::string_view a, std::string_view b) const {
    if (const auto factor = constant(b)) return shifted(of(a), trailing_zeros(*factor));
    if (const auto factor = constant(a)) return shifted(of(b), trailing_zeros(*factor));
    return std::min(of(a), of(b));
  }

  void call() {
    for (int r = 0; r <= 30; ++r) {
      if (r >= 19 && r <= 29) continue;
      state_.registers[static_cast<std::size_t>(r)] = 0;
      state_.constants[static_cast<std::size_t>(r)].reset();
    }
    state_.registers[0] = returned(callee_);
  }

  /// The place on the stack that "[sp, 24]" is, or "[x29, 24]".
  std::optional<long> slot(std::string_view operand) const {
    if (!has_prefix(operand, "[") || !has_suffix(operand, "]")) return std::nullopt;
    operand = operand.substr(1, operand.size() - 2);
    const std::size_t comma = std::min(operand.find(','), operand.size());
    const std::string_view base = trimmed(operand.substr(0, comma));
    if (base != "sp" && (base != "x29" || !frame_)) return std::nullopt;
    const auto offset =
        comma == operand.size() ? std::optional<long>(0) : immediate(trimmed(operand.substr(comma + 1)));
    if (!offset) return std::nullopt;
    return *offset + (base == "sp" ? 0 : *frame_);
  }

  /// Bytes that a register has, as it is loaded or stored by this instruction.
  int bytes(std::string_view name) const {
    if (has_suffix(m_, "b")) return 1;
    if (has_suffix(m_, "h")) return 2;
    if (has_suffix(m_, "sw")) return 4;
    switch (name.empty() ? ' ' : name[0]) {
      case 'w':
      case 's':
        return 4;
      case 'q':
        return 16;
      default:
        return 8;
    }
  }

  /// Registers of this load or store; after them comes the address.
  std::size_t registers() const { return m_ == "ldp" || m_ == "stp" || m_ == "ldpsw" ? 2 : 1; }

  void load() {
    const std::size_t n = registers();
    if (o_.size() <= n) return forget_all();
    const auto at = o_.size() == n + 1 ? slot(o_[n]) : std::nullopt;
    for (std::size_t i = 0; i < n; ++i) {
      const int size = bytes(o_[i]);
      const auto found = at ? state_.slots.find(*at + static_cast<long>(i) * size) : state_.slots.end();
      set(o_[i], found != state_.slots.end() && found->second.bytes == size ? found->second.bits : 0);
    }
    change_base(n);
  }

  void store() {
    const std::size_t n = registers();
    if (o_.size() <= n) return forget_all();
    if (const auto at = o_.size() == n + 1 ? slot(o_[n]) : std::nullopt) {
      for (std::size_t i = 0; i < n; ++i) {
        const int size = bytes(o_[i]);
        const long place = *at + static_cast<long>(i) * size;
        state_.forget_slots(place, size);
        const Bits bits = of(o_[i]);
        if (bits > 0 && (size == 4 || size == 8)) state_.slots[place] = {bits, size};
      }
    }
    change_base(n);
  }

  /// "[x0], 8" and "[x0, 8]!" add to the register.
  void change_base(std::size_t n) {
    const std::string_view address = o_[n];
    if (o_.size() == n + 1 && !has_suffix(address, "!")) return;
    const std::string_view base = trimmed(address.substr(1, address.find_first_of(",]") - 1));
    if (base == "sp") return state_.slots.clear();
    set(base, of(base));  // a constant has been added
  }

  /// A form of load or store that isn't known.
  void forget_all() { state_ = State{}; }

  void compute() {
    const std::string_view to = o_[0];
    const std::size_t n = o_.size();
    if (m_ == "movk") return move_keeping();
    if ((m_ == "mov" || m_ == "movz") && n >= 2) return move();
    if (m_ == "movn") return set(to, kAll);
    if ((m_ == "sxtw" || m_ == "uxtw" || m_ == "mvn") && n == 2) return set(to, of(o_[1]));
    if ((m_ == "neg" || m_ == "negs") && n >= 2) return set(to, modified(1));
    if (is_one_of({"add", "adds", "sub", "subs", "orr", "eor", "orn", "eon", "bic"}) && n >= 3)
      return set(to, std::min(of(o_[1]), modified(2)));
    if ((m_ == "and" || m_ == "ands") && n >= 3) {
      const auto mask = immediate(o_[2]);
      return set(to, std::max(std::min(of(o_[1]), modified(2)), mask ? trailing_zeros(*mask) : 0));
    }
    if (is_one_of({"lsl", "lsr", "asr"}) && n == 3) {
      const auto by = immediate(o_[2]);
      if (m_ == "lsl" && by == 1)
        return set(to, of(o_[1]));  // x86-64 adds the number to itself, which tells us nothing
      return set(to, by ? shifted(of(o_[1]), m_ == "lsl" ? *by : -*by) : 0);
    }
    if (is_one_of({"ubfiz", "sbfiz", "ubfx", "sbfx"}) && n == 4) return field();
    if (is_one_of({"mul", "smull", "umull", "mneg"}) && n == 3) return set(to, product(o_[1], o_[2]));
    if (is_one_of({"madd", "msub", "smaddl", "umaddl", "smsubl", "umsubl"}) && n == 4)
      return set(to, std::min(product(o_[1], o_[2]), of(o_[3])));
    if (m_ == "csel" && n == 4) return set(to, std::min(of(o_[1]), of(o_[2])));
    set(to, 0);
  }

  void move() {
    const auto value = immediate(o_[1]);
    if (!value) return set(o_[0], of(o_[1]), constant(o_[1]));
    const auto by = o_.size() > 2 && has_prefix(o_[2], "lsl ") ? immediate(o_[2].substr(4)) : std::nullopt;
    set(o_[0], kAll, *value << by.value_or(0));
  }

  /// movk x0, 5, lsl 16: 16 of its bits.
  void move_keeping() {
    const auto before = constant(o_[0]), value = o_.size() > 1 ? immediate(o_[1]) : std::nullopt;
    const auto by = o_.size() > 2 && has_prefix(o_[2], "lsl ") ? immediate(o_[2].substr(4)) : std::optional<long>(0);
    if (!before || !value || !by) return set(o_[0], of(o_[0]));
    const long mask = static_cast<long>(0xFFFFul << *by);
    set(o_[0], kAll, (*before & ~mask) | *value << *by);
  }

  /// So many bits from a place on, moved to the right; or from the right to a place.
  void field() {
    const auto place = immediate(o_[2]), width = immediate(o_[3]);
    if (!place || !width) return set(o_[0], 0);
    const bool to_right = has_suffix(m_, "x");
    set(o_[0], shifted(of(o_[1]), to_right ? -*place : *place));
  }

  std::string_view m_;
  const std::vector<std::string_view>& o_;
  std::string_view callee_;
  State& state_;
  std::optional<long> frame_;
};

}  // namespace

void step_aarch64(const Line& line, State& state, std::optional<long> frame) { Step(line, state, frame).run(); }

}  // namespace tilewise::sim::known_bits
