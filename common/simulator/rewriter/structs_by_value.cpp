// What a function that is called moves between memory and its struct parameters or its struct result, the compilers'
// instrumentation does not show: not `out[i] = f(x)` where the result has no register, nor `f(in[i])`. Such functions become part of
// their callers, as nvcc makes them, and every access is a load or a store.
#include "rewriting.hpp"

#include <algorithm>

namespace tilewise::sim {

/// Whether the function's result or one of its parameters may be a struct, by value.
bool Rewriter::moves_structs(const Declaration& decl) const {
  if (by_value(decl.begin, decl.name_begin)) return true;
  const std::vector<std::pair<std::size_t, std::size_t>> parameters = parts(decl.parameters);
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const auto& one) { return by_value(one.first, one.second); });
}

/// What stands between the commas of a parenthesis.
std::vector<std::pair<std::size_t, std::size_t>> Rewriter::parts(std::size_t open) const {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  const std::size_t close = syntax_.match(open);
  if (close == kNone || close == open + 1) return found;
  std::size_t begin = open + 1;
  for (std::size_t comma : syntax_.top_level_commas(begin, close)) {
    found.emplace_back(begin, comma);
    begin = comma + 1;
  }
  found.emplace_back(begin, close);
  return found;
}

/// Whether [begin, end) names a type that may be a struct, and no pointer to one or reference.
bool Rewriter::by_value(std::size_t begin, std::size_t end) const {
  bool found = false;
  for (std::size_t k = begin; k < end; ++k) {
    if (syntax_.is(k, "template") && syntax_.is(k + 1, "<") && syntax_.match_angle(k + 1) != kNone) {
      k = syntax_.match_angle(k + 1);
    } else if (syntax_.is(k, "=")) {
      break;
    } else if (syntax_.is_any(k, {"*", "&", "&&", "["}) ||
               (is_builtin_type(syntax_.text(k)) && !syntax_.is(k, "auto"))) {
      return false;
    } else if (syntax_.is(k, "<") && syntax_.match_angle(k) != kNone) {
      k = syntax_.match_angle(k);
    } else if (takes_parenthesis(syntax_.text(k)) && syntax_.is(k + 1, "(") && syntax_.match(k + 1) != kNone) {
      k = syntax_.match(k + 1);
    } else {
      found = found || syntax_.is(k, "auto") || struct_names_.count(syntax_.text(k)) > 0 ||
              is_struct_of_cuda(syntax_.text(k));
    }
  }
  return found;
}

/// `float3`, `__half2`, `cuComplex`, ...
bool Rewriter::is_struct_of_cuda(std::string_view name) {
  for (std::string_view prefix :
       {"__half", "half", "__nv_bfloat16", "nv_bfloat16", "cuComplex", "cuFloatComplex", "cuDoubleComplex", "dim3"}) {
    if (name.starts_with(prefix) && name.size() <= prefix.size() + 1) return true;
  }
  if (name.size() < 4 || name.back() < '1' || name.back() > '4') return false;
  name.remove_suffix(1);
  static const std::unordered_set<std::string_view> kElements = {
      "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float", "double"};
  return kElements.count(name) > 0;
}

/// Types that the program declares, parameters of templates among them. Not those that stand for `float` and the like.
void Rewriter::find_struct_names() {
  for (std::size_t i = 0; i < syntax_.size(); ++i) {
    if (syntax_.is_any(i, {"struct", "class", "union", "typename"})) {
      std::size_t name = syntax_.is(i + 1, "...") ? i + 2 : syntax_.skip_attributes(i + 1);
      while (takes_parenthesis(syntax_.text(name)) && syntax_.is(name + 1, "(") && syntax_.match(name + 1) != kNone)
        name = syntax_.match(name + 1) + 1;
      if (syntax_.is_name(name)) struct_names_.insert(syntax_.text(name));
    } else if (syntax_.is(i, "using") && syntax_.is(i + 2, "=")) {
      if (!is_builtin_type(syntax_.text(i + 3))) struct_names_.insert(syntax_.text(i + 1));
    } else if (syntax_.is(i, "typedef") && !is_builtin_type(syntax_.text(i + 1))) {
      std::size_t end = i;
      while (end < syntax_.size() && !syntax_.is(end, ";")) {
        if (syntax_.is(end, "{") && syntax_.match(end) != kNone) end = syntax_.match(end);
        ++end;
      }
      if (syntax_.is_name(end - 1)) struct_names_.insert(syntax_.text(end - 1));
    }
  }
}

/// Device functions that move structs and may, by their names, come to themselves again: they can't become part of their callers.
void Rewriter::find_recursive_functions() {
  std::map<Called, std::set<Called>> calls;
  for (std::size_t i = 0; i < syntax_.size(); ++i) {
    if (!syntax_.is(i, "__device__")) continue;
    const std::size_t enclosing = syntax_.enclosing(i);
    if ((enclosing != kNone && !syntax_.is(enclosing, "{")) || is_lambda_marker(i)) continue;
    const Declaration decl = syntax_.parse_declaration(syntax_.declaration_begin(i));
    if (decl.kind != DeclKind::function) continue;
    declared_[name_of(decl)].push_back(decl);
    if (decl.body == kNone || !moves_structs(decl)) continue;
    std::set<Called>& called = calls[name_of(decl)];
    for (std::size_t k = decl.body; k < decl.end; ++k) {
      if (!syntax_.is_name(k) || !syntax_.is_any(k + 1, {"(", "<"})) continue;
      called.insert({syntax_.text(k), true});
      if (!is_called_of_object(k)) called.insert({syntax_.text(k), false});
    }
  }
  for (const auto& [name, called] : calls) {
    std::vector<Called> open{name};
    std::set<Called> reached;
    while (!open.empty()) {
      const auto found = calls.find(open.back());
      open.pop_back();
      if (found == calls.end()) continue;
      for (const Called& next : found->second) {
        if (reached.insert(next).second) open.push_back(next);
      }
    }
    if (reached.count(name)) recursive_.insert(name);
  }
}

bool Rewriter::is_inlined(const Declaration& decl) const {
  if (decl.kind != DeclKind::function || decl.body == kNone || !moves_structs(decl)) return false;
  for (std::size_t k = decl.begin; k < decl.parameters; ++k) {
    if (syntax_.is_any(k, {"__global__", "consteval"})) return false;
  }
  for (std::size_t k = decl.parameters; k < syntax_.match(decl.parameters); ++k) {
    if (syntax_.is(k, "...") && !syntax_.is_identifier(k - 1) && !syntax_.is(k - 1, "&&")) return false;  // of C
  }
  return recursive_.count(name_of(decl)) == 0;
}

bool Rewriter::is_inlined_at(std::size_t i) const {
  const std::size_t enclosing = syntax_.enclosing(i);
  if (enclosing != kNone && !syntax_.is(enclosing, "{")) return false;
  const std::size_t begin = syntax_.declaration_begin(i);
  const Declaration decl = syntax_.parse_declaration(begin);
  if (!is_inlined(decl)) return false;
  for (std::size_t k = begin; k < decl.body; ++k) {
    if (syntax_.is(k, "__device__")) return true;
  }
  return false;
}

/// What makes a function part of its callers. Another file may call it all the same.
std::string Rewriter::inline_attribute(const Declaration& decl) {
  bool is_inline = false;
  bool is_static = decl.is_template;
  for (std::size_t k = decl.begin; k < decl.body; ++k) {
    is_inline = is_inline || syntax_.is_any(k, {"inline", "__inline__", "__inline", "__forceinline__"});
    is_static = is_static || syntax_.is_any(k, {"static", "friend"});
    if (syntax_.is_any(k, {"noinline", "__noinline__"}) && syntax_.is_any(k - 1, {"(", ","}))
      replace(k, k + 1, "always_inline");
  }
  const bool is_local = is_inline || is_static || syntax_.scope_of(decl.begin) == ScopeKind::class_scope;
  return std::string(is_inline ? "" : "inline ") + "__attribute__((always_inline" + (is_local ? "" : ", used") + "))";
}

/// The `{` of the lambda that begins at `i`; kNone for names that a declaration takes apart: `auto& [a, b] = `.
std::size_t Rewriter::lambda_body(std::size_t i) const {
  std::size_t before = i;
  while (before > 0 && syntax_.is_any(before - 1, {"&", "&&"})) --before;
  if (before > 0 && syntax_.is(before - 1, "auto")) return kNone;
  std::size_t k = syntax_.match(i) + 1;
  if (syntax_.is(k, "<") && syntax_.match_angle(k) != kNone) k = syntax_.match_angle(k) + 1;
  for (; k < syntax_.size() && !syntax_.is_any(k, {"{", "}", ")", "]", ";", ":", ",", "="}); ++k)
    if (syntax_.is_any(k, {"(", "["}) && syntax_.match(k) != kNone) k = syntax_.match(k);
  return syntax_.is(k, "{") && syntax_.match(k) != kNone ? k : kNone;
}

/// A lambda of device code that may move structs: the same.
void Rewriter::inline_lambda(std::size_t i) {
  std::size_t open = syntax_.match(i) + 1;
  if (syntax_.is(open, "<") && syntax_.match_angle(open) != kNone) open = syntax_.match_angle(open) + 1;
  while (is_marker(open)) ++open;
  const bool has_parameters = syntax_.is(open, "(") && syntax_.match(open) != kNone;
  if (!has_parameters && !(syntax_.is(open, "{") && open == syntax_.match(i) + 1)) return;
  std::size_t behind = has_parameters ? syntax_.match(open) + 1 : open;
  while (is_marker(behind)) ++behind;
  // Compilers differ in where an attribute stands beside `mutable` or `noexcept`.
  if (!syntax_.is_any(behind, {"{", "->"})) return;
  std::size_t body = behind;
  while (body < syntax_.size() && !syntax_.is_any(body, {"{", ";", ")", "}"})) {
    if (syntax_.is(body, "(") && syntax_.match(body) != kNone) body = syntax_.match(body);
    ++body;
  }
  if (!syntax_.is(body, "{") || syntax_.match(body) == kNone || side_[body] == kHost) return;
  constexpr std::size_t kShort = 40;  // tokens; the compilers inline such lambdas themselves
  if (syntax_.match(body) - body < kShort) return;
  bool structs = by_value(behind, body);
  bool arrow = false;
  for (std::size_t k = behind; k < body; ++k) {
    arrow = arrow || syntax_.is(k, "->");
    if (syntax_.is_any(k, {"__attribute__", "consteval"})) return;
  }
  for (std::size_t k = body; k < syntax_.match(body) && !arrow; ++k)
    structs = structs || (syntax_.is(k, "return") && !syntax_.is(k + 1, ";"));
  if (has_parameters) {
    for (const auto& [begin, end] : parts(open)) structs = structs || by_value(begin, end);
  }
  if (!structs) return;
  if (has_parameters)
    insert_after(behind - 1, " __attribute__((always_inline))");
  else
    insert_before(body, "() __attribute__((always_inline)) ");
}

/// `object.f(` and `pointer->f(`.
bool Rewriter::is_called_of_object(std::size_t i) const { return i > 0 && syntax_.is_any(i - 1, {".", "->"}); }

/// Whether token i is in the body of a member function, where members are called by their names alone.
bool Rewriter::is_in_member(std::size_t i) const {
  const std::size_t body = function_body_of(i);
  return std::any_of(declared_.begin(), declared_.end(), [&](const auto& named) {
    return named.first.second && std::any_of(named.second.begin(), named.second.end(),
                                             [&](const Declaration& decl) { return decl.body == body; });
  });
}

Rewriter::Called Rewriter::name_of(const Declaration& decl) const {
  const bool member = decl.name_begin != decl.name || syntax_.scope_of(decl.name) == ScopeKind::class_scope;
  return {syntax_.text(decl.name), member};
}

/// A call of a recursive function: its result and its arguments go through variables.
void Rewriter::rewrite_recursive_call(std::size_t i) {
  const Called member{syntax_.text(i), true}, free{syntax_.text(i), false};
  const bool of_object = is_called_of_object(i);
  if ((recursive_.count(member) == 0 && (of_object || recursive_.count(free) == 0)) || function_body_of(i) == kNone)
    return;
  for (std::size_t k = function_body_of(i); k < i; ++k)  // a lambda of that name
    if (syntax_.text(k) == syntax_.text(i) && syntax_.is(k + 1, "=") && syntax_.is(k + 2, "[")) return;
  std::size_t open = i + 1;
  if (syntax_.is(open, "<") && syntax_.match_angle(open) != kNone) open = syntax_.match_angle(open) + 1;
  if (!syntax_.is(open, "(") || syntax_.match(open) == kNone) return;
  const std::vector<std::pair<std::size_t, std::size_t>> arguments = parts(open);
  bool result = true;
  std::vector<bool> copied(arguments.size(), true);
  std::vector<Declaration> meant;
  if (of_object || is_in_member(i)) meant = declared_[member];
  if (!of_object) meant.insert(meant.end(), declared_[free].begin(), declared_[free].end());
  for (const Declaration& decl : meant) {
    if (i == decl.name) return;
    result = result && by_value(decl.begin, decl.name_begin);
    const auto parameters = parts(decl.parameters);
    for (std::size_t n = 0; n < copied.size(); ++n)
      copied[n] = copied[n] && (n >= parameters.size() || by_value(parameters[n].first, parameters[n].second));
  }
  for (std::size_t n = 0; n < copied.size(); ++n) {
    if (!copied[n] || syntax_.is(arguments[n].first, "{") || syntax_.is(arguments[n].second - 1, "...")) continue;
    insert_before(arguments[n].first, "::tilewise::sim::value(");
    insert_after(arguments[n].second - 1, ")");
  }
  bool simple = true;
  const std::size_t begin = callee_begin(open, simple);
  if (!result || begin == kNone) return;
  insert_before(begin, "::tilewise::sim::value(");
  insert_after(syntax_.match(open), ")");
}

}  // namespace tilewise::sim
