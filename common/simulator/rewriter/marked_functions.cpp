// Functions that say for whom they are: the host or the device.
#include "rewriting.hpp"

#include <algorithm>

namespace tilewise::sim {

/// All functions of the program with a body, those of classes, too, but for what both sides may call; and the host's lambdas.
void Rewriter::mark_functions(std::vector<MarkedFunction>& marked) {
  if (bodies_.empty()) return;
  std::vector<Declaration> definitions;
  std::unordered_set<std::string_view> declared_for_device;  // a body elsewhere need not say it again
  for (std::size_t i = 0; i + 1 < syntax_.size(); ++i) {
    if (!syntax_.is(i, "(") || syntax_.scope_of(i) == ScopeKind::function) continue;
    const Declaration decl = syntax_.parse_declaration(syntax_.declaration_begin(i));
    if (decl.kind != DeclKind::function || decl.parameters != i) continue;
    if (decl.body != kNone)
      definitions.push_back(decl);
    else if (sides_of(decl).device)
      declared_for_device.insert(syntax_.text(decl.name));
  }
  for (std::size_t i = 0; i < syntax_.size(); ++i) {
    if (!syntax_.opens_lambda(i)) continue;
    const bool for_device = std::any_of(definitions.begin(), definitions.end(), [&](const Declaration& decl) {
      return decl.body < i && i < decl.end &&
             (sides_of(decl).device || declared_for_device.count(syntax_.text(decl.name)) > 0);
    });
    if (!for_device) mark_lambda(i, marked);
  }
  const auto called_by_both = calls_of_both_sides(definitions);
  for (const Declaration& decl : definitions) {
    const FunctionSides sides = sides_of(decl);
    if (sides.host == sides.device) continue;
    const std::string_view name = syntax_.text(decl.name);
    if (sides.host && (declared_for_device.count(name) > 0 || side_[decl.body] != kHost)) continue;
    const bool by_run = host_functions_ == HostFunctions::at_run_time;
    std::string text = by_run ? "" : " ::tilewise::sim::marked_function<" + std::to_string(marked.size()) + ">();";
    const bool comes_by_both = called_by_both.count(is_operator(decl) ? "operator" : name) > 0;
    if (sides.host && name != "main" && !homework_ && (by_run || comes_by_both))
      text += " ::tilewise::sim::host_function();";
    if (!text.empty()) insert_after(decl.body, text);
    if (!by_run) marked.push_back(marked_function(decl, sides.device));
  }
}

/// A lambda without `__device__` in host code. One that is consteval stays as it is.
void Rewriter::mark_lambda(std::size_t i, std::vector<MarkedFunction>& marked) {
  const std::size_t body = lambda_body(i);
  if (body == kNone || side_[body] != kHost || syntax_.scope_of(i) != ScopeKind::function) return;
  for (std::size_t k = i; k < body; ++k)
    if (syntax_.is_any(k, {"consteval", "__host__", "__device__"})) return;
  if (host_functions_ == HostFunctions::at_run_time) {
    if (!homework_) insert_after(body, " if (!__builtin_is_constant_evaluated()) ::tilewise::sim::host_function();");
    return;
  }
  insert_after(body, " ::tilewise::sim::marked_lambda<" + std::to_string(marked.size()) + ">();");
  MarkedFunction lambda;
  const Token& bracket = syntax_.token(i);
  lambda.file = source_.files[static_cast<std::size_t>(bracket.file)];
  lambda.line = bracket.line;
  lambda.lambda = true;
  lambda.name = lambda.qualified_name = "a lambda";
  lambda.calls = calls_between(body, syntax_.match(body));
  marked.push_back(std::move(lambda));
}

bool Rewriter::is_operator(const Declaration& decl) const {
  for (std::size_t k = decl.name_begin; k < decl.parameters; ++k)
    if (syntax_.is(k, "operator")) return true;
  return false;
}

/// The names in functions for both sides, where nvcc only warns of a function of host code. An operator has none.
std::unordered_set<std::string_view> Rewriter::calls_of_both_sides(const std::vector<Declaration>& definitions) const {
  std::unordered_set<std::string_view> names;
  for (const Declaration& decl : definitions) {
    const FunctionSides sides = sides_of(decl);
    if (!sides.host || !sides.device) continue;
    names.insert("operator");
    for (std::size_t k = decl.body; k < decl.end; ++k)
      if (syntax_.is_identifier(k)) names.insert(syntax_.text(k));
  }
  return names;
}

/// What its markers say. Without one it is the host's, but for a constexpr function, which is for both.
Rewriter::FunctionSides Rewriter::sides_of(const Declaration& decl) const {
  FunctionSides sides;
  for (std::size_t k = decl.begin; k < decl.parameters; ++k) {
    sides.device = sides.device || syntax_.is_any(k, {"__device__", "__global__", "constexpr", "consteval"});
    sides.host = sides.host || syntax_.is_any(k, {"__host__", "constexpr", "consteval"});
  }
  sides.host = sides.host || !sides.device;
  return sides;
}

MarkedFunction Rewriter::marked_function(const Declaration& decl, bool device) const {
  MarkedFunction function;
  const Token& name = syntax_.token(decl.name);
  function.file = source_.files[static_cast<std::size_t>(name.file)];
  function.line = name.line;
  function.device = device;
  function.name = syntax_.text(decl.name);
  syntax_.join(decl.name_begin, decl.name + 1, function.qualified_name);
  function.qualified_name.insert(0, class_prefix(decl.begin));
  function.calls = calls_between(decl.body, decl.end);
  return function;
}

/// The first line of each name that something is called, made or pointed to by.
std::map<std::string, int> Rewriter::calls_between(std::size_t begin, std::size_t end) const {
  std::map<std::string, int> calls;
  for (std::size_t k = begin; k < end; ++k)
    if (syntax_.is_identifier(k)) calls.emplace(syntax_.text(k), syntax_.token(k).line);
  return calls;
}

/// "S::" inside of struct S.
std::string Rewriter::class_prefix(std::size_t i) const {
  const std::size_t brace = syntax_.enclosing(i);
  if (brace == kNone || syntax_.scope_of(i) != ScopeKind::class_scope) return "";
  for (std::size_t k = syntax_.declaration_begin(brace); k + 1 < brace; ++k)
    if (syntax_.is_any(k, {"struct", "class"}) && syntax_.is_identifier(k + 1) && !syntax_.is_any(k - 1, {"<", ","}))
      return std::string(syntax_.text(k + 1)) + "::";
  return "";
}

}  // namespace tilewise::sim
