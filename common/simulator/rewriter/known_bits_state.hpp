// What known_bits.cpp knows while it follows a function's instructions, whatever machine they are of.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::sim::known_bits {

// How many of the last bits of a value are known. Constants are known as a whole.
using Bits = int;
constexpr Bits kAll = 64;
constexpr Bits kPlace =
    60;  // of where the linker puts a variable, the compiler knows enough to reckon with it as a constant

constexpr int kRegisters = 32;

/// What is known at one point of a function. Slots are the words of the stack where the compiler keeps values.
struct State {
  std::array<Bits, kRegisters> registers{};
  std::array<std::optional<long>, kRegisters> constants{};  ///< of AArch64, which multiplies by registers only
  struct Slot {
    Bits bits;
    int bytes;
  };
  std::map<long, Slot> slots;

  /// Keeps what is known on both ways. Returns whether that is less than before.
  bool meet(const State& other) {
    bool changed = false;
    for (std::size_t r = 0; r < registers.size(); ++r) {
      if (other.registers[r] < registers[r]) registers[r] = other.registers[r], changed = true;
      if (constants[r] && constants[r] != other.constants[r]) constants[r].reset(), changed = true;
    }
    for (auto slot = slots.begin(); slot != slots.end();) {
      const auto same = other.slots.find(slot->first);
      const Bits bits = same == other.slots.end() || same->second.bytes != slot->second.bytes ? 0 : same->second.bits;
      if (bits < slot->second.bits) slot->second.bits = bits, changed = true;
      slot = slot->second.bits == 0 ? slots.erase(slot) : std::next(slot);
    }
    return changed;
  }

  void forget_slots(long at, int bytes) {
    for (auto s = slots.lower_bound(at - 7); s != slots.end() && s->first < at + bytes;)
      s = s->first + s->second.bytes > at ? slots.erase(s) : std::next(s);
  }
};

inline std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

inline std::optional<long> number(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const long value = std::strtol(copy.c_str(), &end, 0);
  if (copy.empty() || *end != '\0') return std::nullopt;
  return value;
}

inline Bits trailing_zeros(long value) {
  if (value == 0) return kAll;
  Bits n = 0;
  while ((value >> n & 1) == 0) ++n;
  return n;
}

inline bool has_prefix(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}
inline bool has_suffix(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

struct Line {
  std::string_view text;      // whole
  std::string_view mnemonic;  // empty for labels and directives
  std::vector<std::string_view> operands;
  std::string_view label;
};

/// One line. On AArch64 '#' stands before numbers, and comments begin with "//".
Line read_line(std::string_view text, bool aarch64);

/// The function that is called; empty for what is no call, or calls a computed address.
inline std::string_view callee(const Line& line) {
  if ((line.mnemonic != "call" && line.mnemonic != "callq" && line.mnemonic != "bl") || line.operands.empty())
    return {};
  return line.operands[0].substr(0, line.operands[0].find('@'));
}

/// What a function that is called returns.
Bits returned(std::string_view function);

/// What an instruction of AArch64 changes. `frame`: how far x29 lies above sp, as far as anybody uses it so.
void step_aarch64(const Line& line, State& state, std::optional<long> frame);

}  // namespace tilewise::sim::known_bits
