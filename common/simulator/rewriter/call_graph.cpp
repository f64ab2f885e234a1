#include "call_graph.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>

namespace tilewise::sim {
namespace {

constexpr int kUnmarked = -1;

/// A function of the table, or what stands for one.
struct Node {
  int number = 0;            ///< 12 of "_ZN1S1fEi/12"
  std::string_view symbol;   ///< "_ZN1S1fEi"
  std::string_view printed;  ///< "int S::f(int)": the same for all of a constructor's symbols
  int mark = kUnmarked;      ///< index of the MarkedFunction whose body it has
  std::vector<int> calls;    ///< their numbers
  std::vector<int> uses;     ///< functions whose address it takes, and variables
};

/// The number that a call of `void tilewise::sim::marked_function<number>()`, or of marked_lambda, has in its symbol.
int mark_of(std::string_view symbol) {
  int number = kUnmarked;
  for (const std::string_view begin : {"_ZN8tilewise3sim15marked_functionILi", "_ZN8tilewise3sim13marked_lambdaILi"})
    if (symbol.starts_with(begin)) std::from_chars(symbol.data() + begin.size(), symbol.data() + symbol.size(), number);
  return number;
}

/// Where "/12" and a blank follow, from `at` on: the position of the slash, and the number. Else npos.
std::size_t next_number(std::string_view line, std::size_t at, int& number) {
  for (at = line.find('/', at); at != std::string_view::npos; at = line.find('/', at + 1)) {
    const char* const end = line.data() + line.size();
    const auto [last, error] = std::from_chars(line.data() + at + 1, end, number);
    if (error == std::errc() && (last == end || *last == ' ')) return at;
  }
  return at;
}

/// What a line "  Calls: _Z1fv/3 (0.50 per call) void g(int, int)/4 " has, or "  References: _Z1fv/3 (addr) x/4 (read)".
void read_numbers(std::string_view line, Node& node, std::vector<int>& numbers) {
  int number = 0;
  for (std::size_t at = 0; (at = next_number(line, at, number)) != std::string_view::npos; ++at) {
    const std::size_t blank = line.rfind(' ', at);
    const int mark = blank == std::string_view::npos ? kUnmarked : mark_of(line.substr(blank + 1, at - blank - 1));
    if (mark != kUnmarked)
      node.mark = mark;
    else
      numbers.push_back(number);
  }
}

std::vector<Node> first_table(std::string_view text) {
  std::vector<Node> nodes;
  constexpr std::string_view kTitle = "\nSymbol table:\n";
  const std::size_t title = text.find(kTitle);
  if (title == std::string_view::npos) return nodes;
  text = text.substr(title + kTitle.size());
  text = text.substr(0, text.find(kTitle));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("  Calls:") && !nodes.empty()) {
      read_numbers(line, nodes.back(), nodes.back().calls);
    } else if (line.starts_with("  References:") && !nodes.empty()) {
      read_numbers(line, nodes.back(), nodes.back().uses);
    } else if (Node node; !line.empty() && line.front() != ' ') {
      const std::size_t slash = next_number(line, 0, node.number), open = line.find(" (", std::min(slash, line.size()));
      const std::size_t close = line.rfind(')');
      if (open == std::string_view::npos || close == std::string_view::npos || close < open) continue;
      node.symbol = line.substr(0, slash);
      node.printed = line.substr(open + 2, close - open - 2);
      nodes.push_back(std::move(node));
    }
  }
  return nodes;
}

/// "sort" of "_ZSt4sortIPiEvT_S1_", "unique_ptr" of a symbol of one of its members; empty for an operator, and for what is not of std.
std::string_view name_in_library(std::string_view symbol) {
  std::string_view rest;
  for (const std::string_view begin : {"_ZNSt", "_ZNKSt", "_ZSt"})
    if (symbol.starts_with(begin)) rest = symbol.substr(begin.size());
  std::string_view name;
  std::size_t length = 0;
  do {  // an inline namespace, __cxx11, is no name
    const auto [digits, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
    if (error != std::errc() || length > rest.size()) return {};
    name = rest.substr(static_cast<std::size_t>(digits - rest.data()), length);
    rest.remove_prefix(static_cast<std::size_t>(digits - rest.data()) + name.size());
  } while (name.starts_with("__"));
  return name;
}

/// Functions that are constexpr since C++20, and classes whose members are.
bool is_constexpr_since_cxx20(std::string_view name) {
  constexpr std::string_view kNames =
      " basic_string vector accumulate adjacent_difference adjacent_find all_of any_of binary_search copy "
      "copy_backward copy_if copy_n count count_if equal equal_range exchange exclusive_scan fill fill_n find "
      "find_end find_first_of find_if find_if_not for_each for_each_n generate generate_n includes "
      "inclusive_scan inner_product iota is_heap is_heap_until is_partitioned is_permutation is_sorted "
      "is_sorted_until iter_swap lexicographical_compare lower_bound make_heap merge mismatch move_backward "
      "next_permutation none_of nth_element partial_sort partial_sort_copy partial_sum partition partition_copy "
      "partition_point pop_heap prev_permutation push_heap reduce remove remove_copy remove_copy_if remove_if "
      "replace replace_copy replace_copy_if replace_if reverse reverse_copy rotate rotate_copy search search_n "
      "set_difference set_intersection set_symmetric_difference set_union sort sort_heap swap swap_ranges "
      "transform transform_exclusive_scan transform_inclusive_scan transform_reduce unique unique_copy "
      "upper_bound ";
  return !name.empty() && kNames.find(" " + std::string(name) + " ") != std::string_view::npos;
}

/// A function of the C++ library that host code alone has. nvcc takes those that are constexpr (--expt-relaxed-constexpr), and
/// CUDA's headers have a few more.
bool is_of_host_library(const Node& node, StandardLibrary library) {
  const std::string_view name = name_in_library(node.symbol);
  if (node.printed.starts_with("constexpr ") || node.printed.starts_with("static constexpr ")) {
    const bool of_complex =
        name.empty() && node.printed.find("std::complex<") != std::string_view::npos;  // an operator
    return library == StandardLibrary::of_cxx17 && (of_complex || is_constexpr_since_cxx20(name));
  }
  if (node.printed.find("::~") != std::string_view::npos) return false;  // also of a class that needs no other function
  if (name == "abs" || name == "frexp" || name == "modf") return false;
  if (!node.symbol.starts_with("_Z")) {  // g++ hasn't yet made the symbol of what is elsewhere: it's all printed
    const std::size_t parameters = node.printed.find('(');
    return node.printed.substr(0, parameters).find("std::") != std::string_view::npos;
  }
  return !name.empty() || node.symbol.starts_with("_ZSt") || node.symbol.starts_with("_ZNSo");
}

/// Where the caller's body has that name; else where the caller stands.
int line_of(const MarkedFunction& caller, const std::string& name) {
  const auto found = caller.calls.find(name);
  return found == caller.calls.end() ? caller.line : found->second;
}

Diagnostic refusal(const MarkedFunction& caller, const MarkedFunction& callee) {
  if (callee.lambda)
    return {callee.file, callee.line,
            "device code calls this lambda of host code: mark it, [=] __device__ (int i) {...}"};
  const std::string what = (caller.device ? "device code calls " : "host code calls ") + callee.qualified_name + "()";
  return {caller.file, line_of(caller, callee.name),
          what + (caller.device ? ", which is a function of host code: mark it __device__"
                                : ", which is a __device__ function: call it in a kernel, or mark it __host__, too")};
}

Diagnostic address_refusal(const MarkedFunction& caller, const MarkedFunction& callee) {
  return {caller.file, line_of(caller, callee.name),
          "device code takes the address of " + callee.qualified_name + "(), a function of host code"};
}

Diagnostic library_refusal(const MarkedFunction& caller, const Node& callee) {
  std::string name(name_in_library(callee.symbol));
  if (name == "basic_string") name = "string";
  return {caller.file, line_of(caller, name),
          "device code uses " + (name.empty() ? "an operator or a function" : "std::" + name) +
              " of the C++ library, whose functions are host code's where they are not constexpr"};
}

class Graph {
 public:
  Graph(std::string_view text, const std::vector<MarkedFunction>& functions)
      : functions_(functions), nodes_(first_table(text)) {
    std::unordered_map<std::string_view, int> marks;  // of what is printed; lambdas of one function look the same
    for (const Node& node : nodes_)
      if (mark(node) && !mark(node)->lambda) marks.emplace(node.printed, node.mark);
    for (Node& node : nodes_) {
      const auto found = marks.find(node.printed);
      if (node.mark == kUnmarked && found != marks.end()) node.mark = found->second;
      numbered_.emplace(node.number, &node);
    }
  }

  std::vector<Diagnostic> refused(StandardLibrary library) {
    for (const Node& node : nodes_) {
      const MarkedFunction* const caller = mark(node);
      if (caller == nullptr) continue;
      for (const int number : node.calls) look_at_call(*caller, number, library);
      if (!caller->device) continue;
      for (const int number : node.uses)
        if (const MarkedFunction* used = mark_of_number(number); used && !used->device && !used->lambda)
          refuse(*caller, *used, address_refusal(*caller, *used));
      std::set<int> passed;
      look_for_lambdas(*caller, node, passed);
    }
    return std::move(refused_);
  }

 private:
  const MarkedFunction* mark(const Node& node) const {
    return node.mark >= 0 && node.mark < static_cast<int>(functions_.size()) ? &functions_[node.mark] : nullptr;
  }
  const Node* node_of(int number) const {
    const auto found = numbered_.find(number);
    return found == numbered_.end() ? nullptr : found->second;
  }
  const MarkedFunction* mark_of_number(int number) const {
    const Node* const node = node_of(number);
    return node ? mark(*node) : nullptr;
  }

  void refuse(const MarkedFunction& caller, const MarkedFunction& callee, Diagnostic diagnostic) {
    if (seen_.emplace(callee.lambda ? nullptr : &caller, &callee).second) refused_.push_back(std::move(diagnostic));
  }

  void look_at_call(const MarkedFunction& caller, int number, StandardLibrary library) {
    const Node* const callee = node_of(number);
    if (callee == nullptr) return;
    if (const MarkedFunction* of_program = mark(*callee)) {
      if (caller.device != of_program->device) refuse(caller, *of_program, refusal(caller, *of_program));
    } else if (caller.device && library != StandardLibrary::of_both && is_of_host_library(*callee, library)) {
      if (seen_of_library_.emplace(&caller, name_in_library(callee->symbol)).second)
        refused_.push_back(library_refusal(caller, *callee));
    }
  }

  /// A kernel cannot have the type of such a lambda, so also what calls it for the kernel is refused.
  void look_for_lambdas(const MarkedFunction& caller, const Node& node, std::set<int>& passed) {
    for (const int number : node.calls) {
      const Node* const callee = node_of(number);
      if (callee == nullptr || !passed.insert(number).second) continue;
      const MarkedFunction* const of_program = mark(*callee);
      if (of_program == nullptr) look_for_lambdas(caller, *callee, passed);
      if (of_program && of_program->lambda) refuse(caller, *of_program, refusal(caller, *of_program));
    }
  }

  const std::vector<MarkedFunction>& functions_;
  std::vector<Node> nodes_;
  std::unordered_map<int, const Node*> numbered_;
  std::vector<Diagnostic> refused_;
  std::set<std::pair<const MarkedFunction*, const MarkedFunction*>> seen_;
  std::set<std::pair<const MarkedFunction*, std::string_view>> seen_of_library_;
};

}  // namespace

std::vector<Diagnostic> calls_of_other_side(std::string_view call_graph, const std::vector<MarkedFunction>& functions,
                                            StandardLibrary library) {
  return Graph(call_graph, functions).refused(library);
}

}  // namespace tilewise::sim
