#include "shared_memory.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "assembly.hpp"

namespace tilewise::sim {
namespace {

constexpr std::string_view kVariable = "_ZZN8tilewise3sim15shared_variableI";  // static in shared_variable<...>()
constexpr std::string_view kKernelBegins = "_ZN8tilewise3sim12enter_kernelEj";
constexpr std::string_view kLaunches =
    "8tilewise3sim6KernelI";  // in the names of Kernel<...>'s members and their lambdas

struct DeviceCode {
  std::vector<std::string_view> mentions;  // functions and variables, in the order of the code
  bool is_kernel = false;
};

class Mentions {
 public:
  explicit Mentions(const std::string& assembly) {
    for_each_line(assembly, [&](std::string_view line, std::size_t, std::size_t) { read(line); });
  }

  /// The kernel's variables. Not those of kernels that it launches.
  std::vector<std::string_view> variables_of(std::string_view kernel) const {
    std::vector<std::string_view> found;
    std::set<std::string_view> seen = {kernel};
    collect(functions_.at(kernel), seen, found);
    return found;
  }

  /// Those that another section can name: the linker may have dropped a local symbol with the group that it lies in.
  std::vector<std::string_view> kernels() const {
    std::vector<std::string_view> found;
    for (const auto& [name, function] : functions_)
      if (function.is_kernel && can_be_named(name)) found.push_back(name);
    return found;
  }

 private:
  static constexpr bool is_part_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '$';
  }

  static std::string_view name_at(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && is_part_of_name(text[end])) ++end;
    return text.substr(0, end);
  }

  static bool is_variable(std::string_view name) { return name.starts_with(kVariable); }

  bool can_be_named(std::string_view symbol) const {
    return global_.count(symbol) != 0 || in_groups_.count(symbol) == 0;
  }

  void read(std::string_view line) {
    if (line.empty() || line[0] == '#') return;
    if (line[0] != '\t' && line[0] != ' ') return label(name_at(line));
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) return;
    if (line[first] == '.') return directive(line.substr(first));
    if (current_ != nullptr) instruction(parse(line));
  }

  void label(std::string_view name) {
    if (name.starts_with(".L")) return;
    if (in_group_) in_groups_.insert(name);
    current_ = is_variable(name) ? nullptr : &functions_[name];
  }

  void directive(std::string_view text) {
    const std::string_view name = name_at(text);
    std::string_view operand = text.substr(name.size());
    operand.remove_prefix(std::min(operand.size(), operand.find_first_not_of(" \t")));
    if (name == ".globl" || name == ".weak") global_.insert(name_at(operand));
    if (name == ".text" || name == ".data" || name == ".bss") in_group_ = false;
    if (name == ".section") in_group_ = operand.find(",comdat") != std::string_view::npos;
    if (name == ".cfi_endproc") current_ = nullptr;
  }

  void instruction(const Instruction& line) {
    if (line.mnemonic.empty()) return;
    // Calls and jumps, and addresses that are taken. Functions with C's names are found by their calls.
    std::string_view name = is_jump(line.mnemonic) ? jump_target(line) : callee(line);
    if (const std::size_t at = line.operands.find("_Z"); name.empty() && at != std::string_view::npos)
      name = line.operands.substr(at);
    name = name_at(name);
    if (name.empty()) return;
    if (name == kKernelBegins) current_->is_kernel = true;
    if (name.find(kLaunches) == std::string_view::npos) current_->mentions.push_back(name);
  }

  void collect(const DeviceCode& function, std::set<std::string_view>& seen,
               std::vector<std::string_view>& found) const {
    for (const std::string_view name : function.mentions) {
      if (!seen.insert(name).second) continue;
      if (is_variable(name)) {
        if (can_be_named(name)) found.push_back(name);
      } else if (const auto called = functions_.find(name); called != functions_.end() && !called->second.is_kernel) {
        collect(called->second, seen, found);
      }
    }
  }

  std::map<std::string_view, DeviceCode> functions_;
  std::set<std::string_view> global_, in_groups_;  // symbols
  DeviceCode* current_ = nullptr;
  bool in_group_ = false;
};

}  // namespace

std::string list_shared_variables(const std::string& assembly) {
  if (assembly.find(kVariable) == std::string::npos) return assembly;
  const Mentions mentions(assembly);
  std::string table;
  for (const std::string_view kernel : mentions.kernels())
    for (const std::string_view variable : mentions.variables_of(kernel))
      table += "\t.quad\t" + std::string(kernel) + "\n\t.quad\t" + std::string(variable) + "\n";
  if (table.empty()) return assembly;
  return assembly + "\n\t.section\ttilewise_shared,\"aw\",@progbits\n\t.balign\t8\n" + table;
}

}  // namespace tilewise::sim
