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
  std::string_view printed;  ///< "int S::f(int)": the same for all of a constructor's symbols
  int mark = kUnmarked;      ///< index of the MarkedFunction whose body it has
  std::vector<int> calls;    ///< their numbers
};

/// The number that a call of `void tilewise::sim::marked_function<number>()` has in its symbol.
int mark_of(std::string_view symbol) {
  constexpr std::string_view kBegin = "_ZN8tilewise3sim15marked_functionILi";
  int number = kUnmarked;
  if (symbol.starts_with(kBegin)) std::from_chars(symbol.data() + kBegin.size(), symbol.data() + symbol.size(), number);
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

/// What a line "  Calls: _Z1fv/3 (0.50 per call) void g(int, int)/4 " has.
void read_calls(std::string_view line, Node& node) {
  int number = 0;
  for (std::size_t at = 0; (at = next_number(line, at, number)) != std::string_view::npos; ++at) {
    const std::size_t blank = line.rfind(' ', at);
    const int mark = blank == std::string_view::npos ? kUnmarked : mark_of(line.substr(blank + 1, at - blank - 1));
    if (mark != kUnmarked)
      node.mark = mark;
    else
      node.calls.push_back(number);
  }
}

/// The table ends with what is then removed.
std::vector<Node> first_table(std::string_view text) {
  std::vector<Node> nodes;
  constexpr std::string_view kTitle = "Initial Symbol table:", kEnd = "\nRemoving unused symbols:";
  text = text.substr(std::min(text.find(kTitle), text.size()));
  text = text.substr(0, text.find(kEnd));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("  Calls:") && !nodes.empty()) {
      read_calls(line, nodes.back());
    } else if (Node node; !line.empty() && line.front() != ' ') {
      const std::size_t slash = next_number(line, 0, node.number), open = line.find(" (", std::min(slash, line.size()));
      const std::size_t close = line.rfind(')');
      if (open == std::string_view::npos || close == std::string_view::npos || close < open) continue;
      node.printed = line.substr(open + 2, close - open - 2);
      nodes.push_back(std::move(node));
    }
  }
  return nodes;
}

Diagnostic refusal(const MarkedFunction& caller, const MarkedFunction& callee) {
  const auto call = caller.calls.find(callee.name);
  const std::string what = (caller.device ? "device code calls " : "host code calls ") + callee.qualified_name + "()";
  return {caller.file, call == caller.calls.end() ? caller.line : call->second,
          what + (caller.device ? ", which is a function of host code: mark it __device__"
                                : ", which is a __device__ function: call it in a kernel, or mark it __host__, too")};
}

}  // namespace

std::vector<Diagnostic> calls_of_other_side(std::string_view call_graph, const std::vector<MarkedFunction>& functions) {
  const std::vector<Node> nodes = first_table(call_graph);
  std::unordered_map<std::string_view, int> mark_of_printed;
  for (const Node& node : nodes)
    if (node.mark != kUnmarked) mark_of_printed.emplace(node.printed, node.mark);
  std::unordered_map<int, int> mark_of_number;
  for (const Node& node : nodes)
    if (const auto found = mark_of_printed.find(node.printed); found != mark_of_printed.end())
      mark_of_number.emplace(node.number, found->second);

  std::vector<Diagnostic> refused;
  std::set<std::pair<int, int>> seen;
  const int count = static_cast<int>(functions.size());
  for (const Node& node : nodes) {
    if (node.mark < 0 || node.mark >= count) continue;
    for (const int number : node.calls) {
      const auto found = mark_of_number.find(number);
      if (found == mark_of_number.end() || found->second >= count) continue;
      const MarkedFunction &caller = functions[node.mark], &callee = functions[found->second];
      if (caller.device != callee.device && seen.emplace(node.mark, found->second).second)
        refused.push_back(refusal(caller, callee));
    }
  }
  return refused;
}

}  // namespace tilewise::sim
