// What nvcc refuses: calls from one side to the other, host variables in device code, exceptions.
// By name alone: a name that is also a variable's, a member's or a system header's says nothing, and is left alone.
#include "rewriting.hpp"

#include <algorithm>
#include <cctype>

#include "device_only.hpp"

namespace tilewise::sim {
namespace {

/// What the C library has, and device code hasn't.
bool is_host_call(std::string_view name) {
  static const std::unordered_set<std::string_view> names{
      "rand",  "srand",   "random",  "drand48",  "exit",   "abort",  "quick_exit", "atexit", "puts",   "putchar",
      "fputs", "fprintf", "sprintf", "snprintf", "scanf",  "fopen",  "fwrite",     "fflush", "getenv", "system",
      "time",  "qsort",   "bsearch", "realloc",  "calloc", "strtol", "strtod",     "atoi",   "atof"};
  return names.count(name) > 0;
}

}  // namespace

void Rewriter::refuse_intrinsic(std::size_t i) {
  if (side_[i] != kHost || !syntax_.is(i + 1, "(") || !is_for_device_only(syntax_.text(i))) return;
  if (i > 0 && syntax_.is_any(i - 1, {".", "->"})) return;
  if (syntax_.scope_of(i) != ScopeKind::function || in_unevaluated(i) || functions_.count(syntax_.text(i)) > 0) return;
  if (i > 0 && syntax_.is_identifier(i - 1) && !is_statement_keyword(syntax_.text(i - 1))) return;  // declares it
  const std::string name(syntax_.text(i));
  error(i, "host code calls " + name + "(), which CUDA has for device code only");
}

/// Which sides the program's free functions are for, whose names mean nothing else in it.
void Rewriter::find_function_sides() {
  for (std::size_t i = 0; i + 1 < syntax_.size(); ++i) {
    if (!syntax_.is(i, "(") || syntax_.scope_of(i) != ScopeKind::name_space) continue;
    const Declaration decl = syntax_.parse_declaration(syntax_.declaration_begin(i));
    if (decl.kind != DeclKind::function || decl.parameters != i || decl.is_explicit_instantiation) continue;
    FunctionSides& sides = functions_[syntax_.text(decl.name)];
    if (sides.declared == kNone) sides.declared = decl.name;
    bool kernel = false, device = false, host = false;
    for (std::size_t k = decl.begin; k < i; ++k) {
      kernel = kernel || syntax_.is(k, "__global__");
      device = device || syntax_.is_any(k, {"__device__", "constexpr", "consteval"});
      host = host || syntax_.is_any(k, {"__host__", "constexpr", "consteval", "friend"});
    }
    const bool member = decl.name_begin != decl.name || syntax_.is(decl.name, "operator");
    sides.device = sides.device || device || member;
    sides.host = sides.host || host || (!device && !kernel) || member;
    sides.kernel = sides.kernel || kernel;
  }
  for (std::size_t i = 0; i < syntax_.size(); ++i) {
    const auto found = functions_.find(syntax_.text(i));
    if (found == functions_.end()) continue;
    if (found->second.kernel && i > 0 && syntax_.is(i - 1, "::") && is_launched(i)) continue;  // no class has kernels
    const bool other = (!syntax_.is_any(i + 1, {"(", "<"}) && !is_used_as_value(i)) ||
                       (i > 0 && syntax_.is_any(i - 1, {".", "->", "::", "#", "using", "friend"})) ||
                       (syntax_.scope_of(i) == ScopeKind::class_scope && syntax_.is(i + 1, "("));
    if (other) functions_.erase(found);
  }
}

/// `f` as an argument, and not as a name that is declared.
bool Rewriter::is_used_as_value(std::size_t i) const {
  return i > 0 && syntax_.is_any(i - 1, {"(", ",", "&", "="}) && syntax_.is_any(i + 1, {")", ",", ";"});
}

/// Whether a system header declares or calls a function of that name.
bool Rewriter::system_declares(std::string_view name) const {
  for (std::size_t at = source_.text.find(name); at != std::string_view::npos; at = source_.text.find(name, at + 1)) {
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    const std::size_t end = at + name.size();
    if ((at > 0 && is_word(source_.text[at - 1])) || (end < source_.text.size() && is_word(source_.text[end])))
      continue;
    if (source_.text.substr(std::min(source_.text.find_first_not_of(' ', end), source_.text.size()), 1) != "(")
      continue;
    const std::size_t token = first_token_after(at);
    if (token >= syntax_.size() || syntax_.token(token).begin != at) {
      const bool in_string = token > 0 && syntax_.token(token - 1).end() > at;
      if (!in_string) return true;
    }
  }
  return false;
}

void Rewriter::refuse_call(std::size_t i) {
  const auto found = functions_.find(syntax_.text(i));
  if (found == functions_.end() || syntax_.scope_of(i) != ScopeKind::function || in_unevaluated(i)) return;
  std::size_t open = i + 1;
  if (syntax_.is(open, "<") && !is_triple(open, "<")) {
    if (syntax_.match_angle(open) == kNone) return;
    open = syntax_.match_angle(open) + 1;
  }
  if (!syntax_.is(open, "(")) return;
  if (i > 0 && syntax_.is_identifier(i - 1) && !is_statement_keyword(syntax_.text(i - 1))) return;  // declares it
  const FunctionSides& sides = found->second;
  const std::string name(found->first);
  const std::string quoted = name + "()";
  std::string message;
  if (sides.kernel && !sides.device && !sides.host && side_[i] == kHost)
    message = "a kernel is launched, not called: " + name + "<<<grid, block>>>(...)";
  else if (side_[i] == kDevice && !sides.device && !sides.kernel)
    message = "device code calls " + quoted + ", which is a function of host code: mark it __device__";
  else if (side_[i] == kHost && sides.device && !sides.host && !sides.kernel)
    message =
        "host code calls " + quoted + ", which is a __device__ function: call it in a kernel, or mark it __host__, too";
  if (!message.empty() && !system_declares(name)) error(i, message);
}

/// Variables of host code, outside of functions, whose names mean nothing else in the program.
void Rewriter::find_host_variables() {
  for (std::size_t i = 0; i < syntax_.size(); ++i) {
    if (syntax_.scope_of(i) != ScopeKind::name_space || syntax_.declaration_begin(i) != i) continue;
    const Declaration decl = syntax_.parse_declaration(i);
    if (decl.kind != DeclKind::variable) continue;
    bool constant = false, other = false;
    for (std::size_t k = i; k < decl.declarators.front().name; ++k) {
      constant = constant || syntax_.is_any(k, {"const", "constexpr"});
      other = other || syntax_.is_any(k, {"__device__", "__constant__", "__managed__", "__shared__", "template", "*",
                                          "&", "(", "using", "typedef", "extern", "friend", "enum", "class"});
    }
    for (const Declarator& d : decl.declarators) {
      const bool type = syntax_.is_any(d.name - 1, {"struct", "union", "namespace"});
      if (!other && !type) host_variables_[syntax_.text(d.name)] = {d.name, syntax_.is(d.name + 1, "["), constant};
    }
  }
  if (host_variables_.empty()) return;
  for (std::size_t i = 1; i < syntax_.size(); ++i) {
    const auto found = host_variables_.find(syntax_.text(i));
    if (found == host_variables_.end() || found->second.declared == i) continue;
    const bool after_type = (syntax_.is_identifier(i - 1) && !is_statement_keyword(syntax_.text(i - 1))) ||
                            syntax_.is_any(i - 1, {">", "auto", "::", ".", "->", "#"});
    const bool after_pointer =
        i > 2 && syntax_.is_any(i - 1, {"*", "&", "&&"}) &&
        (is_builtin_type(syntax_.text(i - 2)) || syntax_.is_any(i - 3, {"(", ",", ";", "{", "}"}));
    const bool names_type = syntax_.is_identifier(i + 1) || syntax_.is(i + 1, "::");
    if (after_type || after_pointer || names_type) host_variables_.erase(found);
  }
}

/// A constant is a number, until somebody wants to know where it lies.
bool Rewriter::is_taken_by_reference(std::size_t i) const {
  const std::size_t open = syntax_.enclosing(i);
  return open != kNone && open > 2 && syntax_.is(open, "(") && syntax_.is_any(i - 1, {"(", ","}) &&
         syntax_.is_any(i + 1, {",", ")"}) && syntax_.is_any(open - 1, {"max", "min", "clamp"}) &&
         syntax_.is(open - 2, "::") && syntax_.is(open - 3, "std");
}

/// Whether the compiler needs the value, and device code does not.
bool Rewriter::in_constant_expression(std::size_t i) const {
  for (std::size_t k = i; k-- > 0 && !syntax_.is_any(k, {";", "{", "}"});) {
    if (syntax_.is_any(k, {"constexpr", "static_assert", "case"})) return true;
  }
  return syntax_.is(i - 1, "sizeof") || in_unevaluated(i);
}

void Rewriter::refuse_variable(std::size_t i) {
  if (side_[i] != kDevice || syntax_.scope_of(i) != ScopeKind::function) return;
  const std::string name(syntax_.text(i));
  if (is_host_call(name) && syntax_.is(i + 1, "(") && functions_.count(syntax_.text(i)) == 0 && i > 1 &&
      !syntax_.is_any(i - 1, {".", "->", "&"}) && (!syntax_.is(i - 1, "::") || syntax_.is(i - 2, "std")) &&
      (!syntax_.is_identifier(i - 1) || is_statement_keyword(syntax_.text(i - 1))))
    return error(i, "device code calls " + name + "(), which is a function of host code: a GPU doesn't have it");
  const auto found = host_variables_.find(syntax_.text(i));
  if (found == host_variables_.end() || in_constant_expression(i)) return;
  const HostVariable& variable = found->second;
  if (variable.array)
    error(i, "device code uses " + name + ", an array of host code: mark it __constant__, or declare it in the kernel");
  else if (!variable.constant)
    error(i, "device code uses " + name + ", a variable of host code: pass its value to the kernel");
  else if (is_taken_by_reference(i))
    error(i, "device code wants a reference to " + name +
                 ", a constant of host code, which has no place on the GPU: write " +
                 std::string(syntax_.text(syntax_.enclosing(i) - 1)) + "() without std::");
}

/// In `decltype(f(x))` nothing is called.
bool Rewriter::in_unevaluated(std::size_t i) const {
  for (std::size_t open = syntax_.enclosing(i); open != kNone; open = syntax_.enclosing(open)) {
    if (open > 0 && syntax_.is_any(open - 1, {"decltype", "sizeof", "noexcept", "requires", "alignof", "typeid"}))
      return true;
  }
  return false;
}

void Rewriter::refuse_exception(std::size_t i) {
  if (side_[i] != kDevice || (i > 0 && syntax_.is_any(i - 1, {".", "->", ")"}) && !syntax_.starts_statement(i))) return;
  error(i, "device code has no exceptions (" + std::string(syntax_.text(i)) +
               "): report an error through memory, or use assert()");
}

/// The bounds of a local array have to be constants: the compiler says which are.
void Rewriter::demand_constant_bounds(std::size_t i) {
  if (i == 0 || !syntax_.is_identifier(i - 1) || syntax_.token(i + 1).kind == TokenKind::number) return;
  const std::size_t brace = syntax_.enclosing(i);
  if (brace == kNone || !syntax_.is(brace, "{") || syntax_.scope_of(i) != ScopeKind::function || in_local_class(brace))
    return;
  std::size_t begin = i;
  while (begin > brace + 1 && !syntax_.is_any(begin - 1, {";", "{", "}", ":"})) {
    --begin;
    if (syntax_.is_any(begin, {")", "]"})) {
      if (syntax_.match(begin) == kNone) return;
      begin = syntax_.match(begin);
    }
  }
  if (!syntax_.starts_statement(begin)) return;
  const Declaration decl = syntax_.parse_declaration(begin);
  if (decl.kind != DeclKind::variable || decl.end == kNone || syntax_.enclosing(decl.end) != brace) return;
  for (std::size_t k = begin; k < decl.declarators.front().name; ++k) {
    if (syntax_.is_any(k, {"__shared__", "extern"}) || is_statement_keyword(syntax_.text(k))) return;
  }
  for (const Declarator& declarator : decl.declarators) {
    if (declarator.name != i - 1 || declarator.name == begin) continue;
    insert_after(decl.end, " static_assert(__builtin_constant_p(sizeof(" + std::string(syntax_.text(i - 1)) +
                               ")), \"device code has no arrays of variable length\");");
  }
}

}  // namespace tilewise::sim
