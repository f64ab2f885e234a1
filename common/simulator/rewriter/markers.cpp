// Markers: __global__, __device__, __launch_bounds__ and their like, and what they make of a declaration.
#include "rewriting.hpp"

#include <algorithm>

namespace tilewise::sim {

bool Rewriter::is_marker(std::size_t i) const {
  static const std::unordered_set<std::string_view> kMarkers = {
      "__global__", "__device__", "__host__", "__forceinline__", "__noinline__", "__grid_constant__",
      "__launch_bounds__", "__maxnreg__", "__align__", "__builtin_align__", "__shared__", "__constant__", "__managed__",
      "__inline_hint__", "__nv_pure__", "__cluster_dims__",
      // Its promise lets compilers move loads out of loops, and they would not be counted as written.
      "__restrict__", "__restrict"};
  return syntax_.is_identifier(i) && kMarkers.count(syntax_.text(i)) > 0;
}

void Rewriter::rewrite_marker(std::size_t i) {
  std::string_view word = syntax_.text(i);
  bool has_argument = syntax_.is(i + 1, "(") && syntax_.match(i + 1) != kNone;
  if (word == "__cluster_dims__") {
    unsupported(i, "thread block clusters", "remove __cluster_dims__ and let blocks share data through global memory");
  } else if (word == "__launch_bounds__" || word == "__maxnreg__") {
    replace(i, has_argument ? syntax_.match(i + 1) + 1 : i + 1, " ");
  } else if (word == "__align__" || word == "__builtin_align__") {
    // alignas is refused in several places where __align__ is allowed; the GNU attribute is not.
    if (has_argument) {
      replace(i, i + 1, "__attribute__((aligned");
      insert_after(syntax_.match(i + 1), "))");
    }
  } else if (word == "__noinline__") {
    bool in_attribute = i > 0 && syntax_.is_any(i - 1, {"(", ","}) && syntax_.is_any(i + 1, {")", ","});
    if (!in_attribute) replace(i, i + 1, is_inlined_at(i) ? " " : "__attribute__((noinline))");
  } else if (word == "__forceinline__") {
    rewrite_forceinline(i);
  } else if (word == "__shared__") {
    rewrite_shared(i);
  } else if (word == "__global__" || word == "__device__" || word == "__constant__" || word == "__managed__") {
    rewrite_device_declaration(i);
  } else {
    replace(i, i + 1, " ");  // __host__ and hints
  }
}

void Rewriter::rewrite_forceinline(std::size_t i) {
  std::size_t begin = syntax_.declaration_begin(i);
  bool twice = false;
  for (std::size_t k = begin; k < i + 8 && !syntax_.is_any(k, {"(", ";", "{"}); ++k) {
    twice =
        twice || syntax_.is_any(k, {"inline", "__inline__", "__inline"}) || (k < i && syntax_.is(k, "__forceinline__"));
  }
  replace(i, i + 1, twice || is_lambda_marker(i) ? " " : "inline");
}

/// True for the markers in `[=] __host__ __device__ (int i) {...}`, also after the parameters.
bool Rewriter::is_lambda_marker(std::size_t i) const { return lambda_brackets(i) != kNone; }

/// The `[` of the lambda that the marker belongs to.
std::size_t Rewriter::lambda_brackets(std::size_t i) const {
  while (i > 0 && (is_marker(i - 1) || syntax_.is_any(i - 1, {"mutable", "constexpr"}))) --i;
  if (i == 0) return kNone;
  std::size_t before = i - 1;
  if (syntax_.is(before, ")")) {
    before = syntax_.match(before);
    if (before == kNone || before == 0) return kNone;
    --before;
  }
  if (syntax_.is(before, ">")) {
    before = syntax_.match_angle_back(before);
    if (before == kNone || before == 0) return kNone;
    --before;
  }
  if (!syntax_.is(before, "]")) return kNone;
  std::size_t open = syntax_.match(before);
  return open != kNone && syntax_.opens_lambda(open) ? open : kNone;
}

void Rewriter::mark_side(std::size_t begin, std::size_t end, Side side) {
  std::fill(side_.begin() + begin, side_.begin() + end, side);
}

void Rewriter::rewrite_device_declaration(std::size_t i) {
  if (std::size_t open = lambda_brackets(i); open != kNone) return mark_device_lambda(i);
  bool is_global = syntax_.is(i, "__global__");
  // In parentheses, in a type alias, before a class: a marker without meaning here.
  bool in_parameters = syntax_.enclosing(i) != kNone && !syntax_.is(syntax_.enclosing(i), "{");
  Declaration decl;
  if (!in_parameters) decl = syntax_.parse_declaration(syntax_.declaration_begin(i));
  bool definition = decl.kind == DeclKind::function && decl.body != kNone;
  // Several markers belong to one declaration: it is dealt with at the first one.
  bool first = decl.kind != DeclKind::other && declarations_.insert(decl.begin).second;
  const bool inlined = first && definition && is_inlined(decl);
  replace(i, i + 1, is_global && definition ? "__attribute__((noinline))" : inlined ? inline_attribute(decl) : " ");
  if (!first) return;
  if (decl.kind == DeclKind::function && definition) rewrite_device_function(decl);
  if (decl.kind == DeclKind::variable) register_device_variable(i, decl);
}

void Rewriter::mark_device_lambda(std::size_t i) {
  replace(i, i + 1, " ");
  bool host = false;
  std::size_t body = i;
  while (body > 0 && is_marker(body - 1)) --body;
  for (; body < syntax_.size(); ++body) {
    if (syntax_.is(body, "__host__")) host = true;
    if (syntax_.is(body, "{")) break;
    if (syntax_.is_any(body, {"(", "["})) {
      body = syntax_.match(body);
      if (body == kNone) return;
    } else if (syntax_.is_any(body, {";", ")", "]", "}"})) {
      return;
    }
  }
  if (body >= syntax_.size() || syntax_.match(body) == kNone) return;
  mark_side(i, syntax_.match(body) + 1, host ? kBoth : kDevice);
  bodies_.push_back(body);
}

/// Whether its head has a type of numbers, or none, in place of void. Names of types are left to the compiler.
bool Rewriter::returns_something(const Declaration& decl) const {
  bool has_type = false;
  for (std::size_t k = decl.begin; k < decl.name_begin; ++k) {
    if (syntax_.is_any(k, {"int", "unsigned", "float", "double", "char", "bool", "long", "short"})) return true;
    if (syntax_.is(k, "void")) return syntax_.is_any(k + 1, {"*", "&"});
    if (syntax_.is_any(k, {"(", "["}) && syntax_.match(k) != kNone) k = syntax_.match(k);
    if (syntax_.is(k, "<")) return false;  // a template, whose head says more
    has_type = has_type || syntax_.is_any(k, {"auto", "decltype"}) ||
               (syntax_.is_name(k) && !is_marker(k) && !syntax_.text(k).starts_with("__"));
  }
  return !has_type && !decl.is_template;
}

void Rewriter::rewrite_device_function(const Declaration& decl) {
  bool global = false;
  bool host = false;
  bool is_friend = false;
  std::string bounds = "0";
  for (std::size_t k = decl.begin; k < decl.body; ++k) {
    if (syntax_.is(k, "__global__")) global = true;
    if (syntax_.is(k, "__host__")) host = true;
    if (syntax_.is(k, "friend")) is_friend = true;
    if (syntax_.is(k, "__launch_bounds__") && syntax_.is(k + 1, "(") && syntax_.match(k + 1) != kNone) {
      std::size_t close = syntax_.match(k + 1);
      std::vector<std::size_t> commas = syntax_.top_level_commas(k + 2, close);
      std::size_t end = commas.empty() ? close : commas[0];
      if (end > k + 2 && !syntax_.join(k + 2, end, bounds)) bounds = "0";
    }
  }
  mark_side(decl.parameters, decl.end + 1, host ? kBoth : kDevice);
  bodies_.push_back(decl.body);
  if (!global) return;
  if (returns_something(decl))
    return error(decl.name, "a kernel returns nothing: __global__ void " + std::string(syntax_.text(decl.name)) +
                                "(...); results go into memory");
  std::string entry = " ::tilewise::sim::enter_kernel(" + bounds + ");";
  for (std::size_t k = decl.parameters; k < syntax_.match(decl.parameters); ++k) {
    if (syntax_.is_any(k, {"__restrict__", "__restrict"}) && syntax_.is_any(k + 2, {",", ")", "="}))
      entry += " ::tilewise::sim::restricted(" + std::string(syntax_.text(k + 1)) + ");";
  }
  insert_after(decl.body, entry);
  if (!decl.is_template && !is_friend && syntax_.scope_of(decl.name) == ScopeKind::name_space) register_kernel(decl);
}

}  // namespace tilewise::sim
