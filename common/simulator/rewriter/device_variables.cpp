// Variables in device memory: __device__, __constant__, __managed__, and static ones of device functions.
#include "rewriting.hpp"

namespace tilewise::sim {

void Rewriter::register_device_variable(std::size_t i, const Declaration& decl) {
  bool is_extern = false;
  bool is_constant = false;
  bool is_managed = false;
  bool is_shared = false;
  std::size_t head_end = decl.declarators.front().name;
  for (std::size_t k = decl.begin; k < head_end; ++k) {
    is_extern = is_extern || syntax_.is(k, "extern");
    is_constant = is_constant || syntax_.is(k, "__constant__");
    is_managed = is_managed || syntax_.is(k, "__managed__");
    is_shared = is_shared || syntax_.is(k, "__shared__");
  }
  ScopeKind scope = syntax_.scope_of(i);
  if (is_shared || decl.is_template || decl.is_explicit_instantiation || scope == ScopeKind::class_scope) return;
  const char* space = is_managed ? "managed" : is_constant ? "constant" : "global";
  if (scope == ScopeKind::name_space && !is_managed) {
    for (const Declarator& declarator : decl.declarators) {
      std::string_view name = syntax_.text(declarator.name);
      device_variables_.insert(name);
      if (syntax_.is(declarator.name + 1, "[")) device_arrays_.insert(name);
    }
  }
  register_variables(decl, is_extern, scope == ScopeKind::function, space);
}

void Rewriter::register_variables(const Declaration& decl, bool is_extern, bool local, const std::string& space) {
  std::string text;
  for (const Declarator& declarator : decl.declarators) {
    if (is_extern && !declarator.initialised) continue;  // defined elsewhere
    std::string name;
    if (!syntax_.join(declarator.name_begin, declarator.name + 1, name)) continue;
    std::string arguments = "(const void*)&" + name + ", sizeof(" + name + "), \"" + name + "\"";
    if (local) {
      std::string known = "tw_known_" + name;
      text += " static bool " + known + "; ::tilewise::sim::register_static(" + known + ", " + arguments + ");";
    } else {
      text += " [[maybe_unused]] static const bool tw_reg_" + std::to_string(++registrations_) +
              " = ::tilewise::sim::register_variable(" + arguments + ", ::tilewise::sim::Space::" + space + ");";
    }
  }
  insert_after(decl.end, text);
}

/// `static` in a device function: a variable in device memory, with or without a marker.
void Rewriter::register_device_static(std::size_t i) {
  std::size_t brace = syntax_.enclosing(i);
  std::size_t begin = syntax_.declaration_begin(i);
  if (brace == kNone || !syntax_.is(brace, "{") || !syntax_.starts_statement(begin) || in_local_class(brace)) return;
  if (syntax_.scope_of(i) != ScopeKind::function || declarations_.count(begin)) return;
  Declaration decl = syntax_.parse_declaration(begin);
  if (decl.kind != DeclKind::variable) return;
  for (std::size_t k = begin; k < decl.declarators.front().name; ++k) {
    if (syntax_.is_any(k, {"__shared__", "constexpr", "thread_local"})) return;
  }
  declarations_.insert(begin);
  register_variables(decl, false, true, "global");
}

/// True when the brace is that of a class inside a function.
bool Rewriter::in_local_class(std::size_t brace) const {
  for (std::size_t k = brace; k-- > 0;) {
    if (syntax_.is_any(k, {"struct", "class", "union"})) return true;
    if (!syntax_.is_identifier(k) && !syntax_.is_any(k, {"::", ":", "<", ">", ","})) return false;
  }
  return false;
}

}  // namespace tilewise::sim
