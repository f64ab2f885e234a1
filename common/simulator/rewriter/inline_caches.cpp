#include "inline_caches.hpp"

#include <optional>
#include <string_view>

#include "assembly.hpp"
#include "base/inline_cache.hpp"

namespace tilewise::sim {
namespace {

// A hook of __tsan_read4, or tilewise_write1_known5.
struct Hook {
  bool reads = false;
  unsigned shift = 0;  ///< 2 to the power of this: bytes
  std::string_view known_bits;
};

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<Hook> hook_of(std::string_view name) {
  Hook hook;
  hook.known_bits = "0";
  if (!take(name, "__tsan_") && !take(name, "tilewise_")) return {};
  hook.reads = take(name, "read");
  if (!hook.reads && !take(name, "write")) return {};
  const std::string_view bytes = name.substr(0, name.find('_'));
  static constexpr std::string_view kBytes[] = {"1", "2", "4", "8", "16"};
  while (kBytes[hook.shift] != bytes)
    if (++hook.shift == std::size(kBytes)) return {};
  name.remove_prefix(bytes.size());
  if (take(name, "_known"))
    hook.known_bits = name;
  else if (!name.empty())
    return {};
  return hook;
}

constexpr std::string_view kCaches = "tilewise_inline_caches";

// rdi holds the address. A call may change rax, rsi, rdx and the flags. That the address is a multiple of the bytes is asked by turning
// its distance to the right: what is left over becomes the highest bits, and the distance too large.
std::string asked_first_x86_64(const Hook& hook, std::size_t number) {
  const std::string cache = std::string(kCaches) + "+" + std::to_string(number * sizeof(inline_cache::Cache));
  const std::string size = std::to_string(1u << hook.shift);
  std::string text = "\tmovq\t%rdi, %rax\n\tsubq\t" + cache + "(%rip), %rax\n";
  if (hook.shift != 0) text += "\trorq\t$" + std::to_string(hook.shift) + ", %rax\n";
  return text + "\tcmpq\t" + cache + "+8(%rip), %rax\n\tjb\t1f\n\tleaq\t" + cache + "(%rip), %rsi\n\tmovl\t$" +
         std::string(hook.known_bits) + ", %edx\n\tcall\ttilewise_" + (hook.reads ? "read" : "write") + size +
         "_cached@PLT\n1:\n";
}

// The same of AArch64: x0 holds the address, and a call may change x1 to x17.
std::string asked_first_aarch64(const Hook& hook, std::size_t number) {
  const std::string cache = std::string(kCaches) + "+" + std::to_string(number * sizeof(inline_cache::Cache));
  std::string text =
      "\tadrp\tx1, " + cache + "\n\tadd\tx1, x1, #:lo12:" + cache + "\n\tldp\tx3, x4, [x1]\n\tsub\tx3, x0, x3\n";
  if (hook.shift != 0) text += "\tror\tx3, x3, #" + std::to_string(hook.shift) + "\n";
  return text + "\tcmp\tx3, x4\n\tb.lo\t1f\n\tmov\tw2, #" + std::string(hook.known_bits) + "\n\tbl\ttilewise_" +
         (hook.reads ? "read" : "write") + std::to_string(1u << hook.shift) + "_cached\n1:\n";
}

constexpr std::string_view kIterate = "_ZN8tilewise3sim4Loop7iterateEv";

std::string iterate_if_followed(std::string_view call, bool aarch64) {
  if (aarch64)
    return "\tadrp\tx16, :got:_ZN8tilewise3sim12follow_loopsE\n\tldr\tx16, [x16, "
           ":got_lo12:_ZN8tilewise3sim12follow_loopsE]\n\tldrb\tw16, [x16]\n\tcbz\tw16, 1f\n" +
           std::string(call) + "\n1:\n";
  return "\tmovq\t_ZN8tilewise3sim12follow_loopsE@GOTPCREL(%rip), %rax\n\tcmpb\t$0, (%rax)\n\tje\t1f\n" +
         std::string(call) + "\n1:\n";
}

// The caches themselves; and a library that is closed takes them with it.
std::string caches(std::size_t number) {
  if (number == 0) return {};
  return "\t.local\t" + std::string(kCaches) + "\n\t.comm\t" + std::string(kCaches) + "," +
         std::to_string(number * sizeof(inline_cache::Cache)) +
         ",16\n\t.section\t.fini_array,\"aw\"\n\t.balign\t8\n\t.quad\ttilewise_empty_inline_caches\n";
}

}  // namespace

std::string add_inline_caches(const std::string& assembly) {
  std::string out;
  out.reserve(assembly.size() + assembly.size() / 8);
  const bool aarch64 = is_aarch64(assembly);
  std::size_t number = 0;
  for_each_line(assembly, [&](std::string_view line, std::size_t, std::size_t) {
    const std::string_view name = callee(parse(line));
    if (name == kIterate) {
      out += iterate_if_followed(line, aarch64);
    } else if (const std::optional<Hook> hook = hook_of(name)) {
      out += aarch64 ? asked_first_aarch64(*hook, number++) : asked_first_x86_64(*hook, number++);
    } else {
      out += line;
      out += '\n';
    }
  });
  return out + caches(number);
}

}  // namespace tilewise::sim
