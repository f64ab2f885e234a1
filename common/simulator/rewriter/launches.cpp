// Launches: kernel<<<grid, block>>>(arguments).
#include "rewriting.hpp"

#include <algorithm>

namespace tilewise::sim {

bool Rewriter::is_triple(std::size_t i, std::string_view angle) const {
  return syntax_.is(i, angle) && syntax_.is(i + 1, angle) && syntax_.is(i + 2, angle);
}

/// The first `>` of the `>>>` that closes the launch configuration opened by the `<<<` at i.
std::size_t Rewriter::configuration_end(std::size_t i) const {
  std::size_t fallback = kNone;
  int open_templates = 0;
  for (std::size_t k = i + 3; k < syntax_.size(); ++k) {
    if (syntax_.is_any(k, {"(", "[", "{"})) {
      k = syntax_.match(k);
      if (k == kNone) return fallback;
    } else if (syntax_.is_any(k, {")", "]", "}", ";"})) {
      return fallback;
    } else if (is_triple(k, "<")) {
      return fallback;
    } else if (syntax_.is(k, "<") && syntax_.is_identifier(k - 1)) {
      ++open_templates;
    } else if (syntax_.is(k, ">")) {
      std::size_t run = k;
      while (syntax_.is(run, ">")) ++run;
      int length = static_cast<int>(run - k);
      if (length >= 3 && syntax_.is(run, "(")) {
        if (length - 3 >= open_templates) return run - 3;
        if (fallback == kNone) fallback = run - 3;
      }
      open_templates = std::max(0, open_templates - length);
      k = run - 1;
    }
  }
  return fallback;
}

/// True for `k`, `::ns::k<int, (a > b)>`.
bool Rewriter::is_plain_name(std::size_t begin, std::size_t end) const {
  for (std::size_t k = begin; k < end; ++k) {
    if (syntax_.is(k, "<") && k > begin) {
      k = syntax_.match_angle(k);
      if (k == kNone || k >= end) return false;
    } else if (!syntax_.is_identifier(k) && !syntax_.is(k, "::")) {
      return false;
    }
  }
  return begin < end;
}

/// First token of the expression that names the kernel and ends before the `<<<` at i. kNone when there is none.
/// `simple` tells whether it is a name, to be called as it is, or an expression, to be evaluated once.
std::size_t Rewriter::callee_begin(std::size_t i, bool& simple) const {
  simple = true;
  std::size_t begin = i;
  for (;;) {
    if (begin == 0) return kNone;
    std::size_t last = begin - 1;
    if (syntax_.is(last, ">")) {
      last = syntax_.match_angle_back(last);
      if (last == kNone || last == 0 || !syntax_.is_identifier(last - 1)) return kNone;
      begin = last - 1;
    } else if (syntax_.is_any(last, {")", "]"})) {
      simple = false;
      std::size_t open = syntax_.match(last);
      if (open == kNone) return kNone;
      begin = open;
      if (open == 0) return begin;
      // A call or a subscript has its object before it; `(*pointer)` after `if (..)` has not.
      std::size_t before = open - 1;
      bool object = (syntax_.is_identifier(before) && !is_statement_keyword(syntax_.text(before))) ||
                    syntax_.is(before, "]") || (syntax_.is(before, ">") && syntax_.match_angle_back(before) != kNone);
      if (syntax_.is(before, ")")) {
        std::size_t head = syntax_.match(before);
        object = head != kNone && head > 0 && !syntax_.is_any(head - 1, {"if", "for", "while", "switch", "constexpr"});
      }
      if (object) continue;
      // `(k<1, 2>)`, as macros need it, is a name all the same.
      if (last + 1 == i && syntax_.is(last, ")")) simple = is_plain_name(open + 1, last);
      return begin;
    } else if (syntax_.is_identifier(last) &&
               (!is_statement_keyword(syntax_.text(last)) || syntax_.is(last, "template"))) {
      begin = last;
    } else {
      return kNone;
    }
    // What qualifies the name: `ns::`, `object.`, `pointer->`, with `template` in between.
    if (begin > 0 && syntax_.is(begin - 1, "template")) --begin;
    if (begin > 0 && syntax_.is(begin - 1, "::")) {
      --begin;
      bool scope = begin > 0 && ((syntax_.is_identifier(begin - 1) && !is_statement_keyword(syntax_.text(begin - 1))) ||
                                 (syntax_.is(begin - 1, ">") && syntax_.match_angle_back(begin - 1) != kNone));
      if (!scope) return begin;
    } else if (begin > 0 && syntax_.is_any(begin - 1, {".", "->"})) {
      --begin;
      simple = false;
    } else {
      return begin;
    }
  }
}

/// A bare `0` may be a null pointer: as a literal it converts, as a variable it would not.
void Rewriter::pass_zeros(std::size_t open, std::size_t close, std::string& parameters, std::string& passed) const {
  std::vector<std::size_t> ends = syntax_.top_level_commas(open + 1, close);
  ends.push_back(close);
  bool any = false;
  std::string all_parameters;
  std::string all_passed;
  std::size_t begin = open + 1;
  for (std::size_t n = 0; n < ends.size(); ++n) {
    if (syntax_.is(ends[n] - 1, "...")) return;  // a pack has no number of arguments that we know
    bool zero = ends[n] == begin + 1 && syntax_.is(begin, "0");
    any = any || zero;
    std::string name = "tw_a" + std::to_string(n);
    all_parameters += std::string(n == 0 ? "auto" : ", auto") + (zero ? "" : " " + name);
    all_passed += std::string(n == 0 ? "" : ", ") + (zero ? "0" : name);
    begin = ends[n] + 1;
  }
  if (!any) return;
  parameters = all_parameters;
  passed = all_passed;
}

/// True for `(const void*)` and kin, whose `)` is at `close`.
bool Rewriter::casts_to_void_pointer(std::size_t close) const {
  std::size_t open = syntax_.match(close);
  if (open == kNone || open + 2 >= close) return false;
  for (std::size_t k = open + 1; k < close; ++k) {
    if (!syntax_.is_any(k, {"const", "void", "*"})) return false;
  }
  return true;
}

/// `(void*)k<float>` loses the types of the parameters, which cudaLaunchKernel has to know: note them before.
void Rewriter::tell_kernel_type(std::size_t i) {
  if (template_kernels_.count(syntax_.text(i)) == 0 || !syntax_.is(i + 1, "<")) return;
  std::size_t close = syntax_.match_angle(i + 1);
  bool simple = true;
  if (close == kNone || !syntax_.is_any(close + 1, {")", ",", ";"})) return;
  std::size_t begin = callee_begin(close + 1, simple);
  if (begin == kNone || begin < 2 || !simple) return;
  if (syntax_.is(begin - 1, "&")) --begin;
  bool c_cast = syntax_.is(begin - 1, ")") && casts_to_void_pointer(begin - 1);
  bool cpp_cast = begin > 4 && syntax_.is(begin - 1, "(") && syntax_.is(begin - 2, ">") && syntax_.is(begin - 3, "*") &&
                  syntax_.is_any(begin - 4, {"void", "const"});
  if (!c_cast && !cpp_cast) return;
  insert_before(begin, "::tilewise::sim::known_kernel(");
  insert_after(close, ")");
}

/// Outside functions and classes: in the initialiser of a variable at namespace scope.
bool Rewriter::at_namespace_scope(std::size_t i) const {
  while (syntax_.enclosing(i) != kNone && syntax_.is_any(syntax_.enclosing(i), {"(", "["})) i = syntax_.enclosing(i);
  return syntax_.enclosing(i) == kNone || syntax_.scope_of(i) == ScopeKind::name_space;
}

/// Somewhere is `void (*name)(...)`: where the name is a kernel's, it is that of a pointer to one.
bool Rewriter::is_declared_as_pointer(std::string_view name) const {
  for (std::size_t k = 2; k + 1 < syntax_.size(); ++k)
    if (syntax_.text(k) == name && syntax_.is(k - 1, "*") && syntax_.is(k - 2, "(") && syntax_.is(k + 1, ")"))
      return true;
  return false;
}

void Rewriter::rewrite_launch(std::size_t i) {
  if (!is_triple(i, "<") || !syntax_.touches(i, i + 1)) return;
  if (i > 0 && syntax_.is_any(i - 1, {"operator", "<"})) return;
  bool simple = true;
  std::size_t begin = callee_begin(i, simple);
  std::size_t close = configuration_end(i);
  if (begin == kNone) return error(i, "no kernel before <<<");
  if (close == kNone) return error(i, "this <<< has no matching >>>(");
  std::size_t open = close + 3;
  std::size_t last = syntax_.match(open);
  if (last == kNone) return error(i, "the kernel's arguments have no closing parenthesis");
  if (side_[i] == kDevice && homework_) {
    return error(
        i,
        "a launch in device code (dynamic parallelism) is not part of the homework: launch the kernel from the host");
  }
  std::string callee;
  if (!syntax_.join(begin, i, callee)) return unsupported(i, "a kernel name that spans lines", "name it on one line");
  const bool is_pointer = !simple || (begin + 1 == i && is_declared_as_pointer(callee));
  const std::string capture = at_namespace_scope(i) ? "" : "&";  // nothing to capture there, and C++ forbids to ask
  bool has_arguments = last > open + 1;
  if (simple && is_known_kernel(begin, i, open)) {
    if (side_[i] == kHost) rewrite_host_addresses(open);
    replace(begin, i + 3, " ::tilewise::sim::Kernel<&" + callee + ">::launch(::tilewise::sim::LaunchConfig(");
    replace(close, open + 1, has_arguments ? "), " : ")");
    return;
  }
  if (side_[i] == kHost) rewrite_host_addresses(open);
  if (is_pointer) {
    replace(begin, i + 3, " ::tilewise::sim::launch_pointer(::tilewise::sim::LaunchConfig(");
    replace(close, open + 1, "), " + callee + (has_arguments ? ", " : ""));
  } else {
    std::string parameters = "auto... tw_a";
    std::string passed = "tw_a...";
    pass_zeros(open, last, parameters, passed);
    const std::string resolved_first = resolved(begin, i, parameters, passed, callee);
    replace(begin, i + 3,
            std::string(" ::tilewise::sim::") + (resolved_first.empty() ? "launch" : "launch_resolved") +
                "(::tilewise::sim::LaunchConfig(");
    replace(close, open + 1,
            "), " + resolved_first + "[" + capture + "](" + parameters + ") { " + callee + "(" + passed + "); }" +
                (has_arguments ? ", " : ""));
  }
  for (std::size_t k = open + 1; k < last; ++k) {
    bool starts = syntax_.is_any(k - 1, {",", "("});
    if (starts && syntax_.is(k, "{")) {
      unsupported(k, "a kernel argument in bare braces", "name its type, as in Params{1, 2}");
    }
    if (starts && syntax_.is_any(k, {"__null", "NULL"}) && syntax_.is_any(k + 1, {",", ")"})) {
      replace(k, k + 1, "::tilewise::sim::null_argument");
    }
    if (syntax_.is_any(k, {"(", "[", "{"})) k = syntax_.match(k) == kNone ? last : syntax_.match(k);
  }
}

/// `k<<<` or `k<128><<<`.
bool Rewriter::is_launched(std::size_t i) const {
  std::size_t after = i + 1;
  if (syntax_.is(after, "<") && !is_triple(after, "<") && syntax_.match_angle(after) != kNone)
    after = syntax_.match_angle(after) + 1;
  return is_triple(after, "<");
}

}  // namespace tilewise::sim
