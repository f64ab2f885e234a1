// __shared__ variables: each becomes a reference into what its block has.
#include "rewriting.hpp"

#include <algorithm>

namespace tilewise::sim {

std::string trim(std::string_view text) {
  std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? "" : std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

void Rewriter::rewrite_shared(std::size_t i) {
  const std::size_t enclosing = syntax_.enclosing(i);
  Shared d;
  d.begin = syntax_.declaration_begin(i);
  const bool in_parameters = enclosing != kNone && !syntax_.is(enclosing, "{");
  if (in_parameters || syntax_.is_any(d.begin, {"using", "typedef"})) return replace(i, i + 1, " ");
  if (!declarations_.insert(d.begin).second) return;  // a second __shared__: replaced with the declaration
  d.first = syntax_.skip_type(d.begin);
  if (refuse_unfinished(i, d.first)) return;
  d.end = d.first == kNone ? kNone : syntax_.parse_declarators(d.first, d.declarators);
  if (d.end == kNone || syntax_.scope_of(i) == ScopeKind::class_scope) {
    return unsupported(i, "this __shared__ declaration", "declare one plain variable or array in a function");
  }
  d.first_name = syntax_.text(d.declarators.front().name);
  if (!read_shared_type(d)) return;
  if (d.has_class && d.is_extern) {
    return unsupported(i, "a class defined in an extern __shared__ declaration", "define the class before it");
  }
  const bool at_namespace = syntax_.scope_of(i) == ScopeKind::name_space;
  std::string references;
  std::size_t from = d.first;
  for (const Declarator& declarator : d.declarators) {
    if (declarator.initialised) {
      return unsupported(declarator.name, "an initial value for a __shared__ variable (CUDA does not either)",
                         "assign it in one thread and call __syncthreads()");
    }
    const std::size_t stop = end_of_declarator(declarator.name);
    if (!d.is_extern && refuse_variable_size(declarator.name, stop)) return;
    std::string text;
    if (!(d.is_extern ? refer_to_dynamic(d, from, declarator.name, stop, text)
                      : refer_to_static(d, from, declarator.name, stop, text)))
      return;
    if (at_namespace) {
      namespace_shared_[syntax_.text(declarator.name)].push_back({declarator.name, text});
    } else {
      references += " " + text;
      const std::size_t close = enclosing == kNone ? kNone : syntax_.match(enclosing);
      shared_names_.push_back({syntax_.text(declarator.name), d.end, close == kNone ? syntax_.size() : close});
    }
    from = stop + 1;
  }
  if (d.has_class) d.structs = "struct " + d.shared_struct() + " { " + d.members + "; }; ";
  replace(d.begin, d.end + 1, trim(trim(d.structs) + references));
}

/// Says where the declaration ends before its `;`; false where it doesn't. `first`: its first declarator, kNone where that isn't known.
bool Rewriter::refuse_unfinished(std::size_t i, std::size_t first) {
  std::size_t at = first == kNone ? i : first;
  for (; at < syntax_.size() && !syntax_.is_any(at, {";", "=", "{"}); ++at) {
    if (first != kNone && at > first && ends_declarator(at - 1) && begins_statement(at))
      return error(at - 1, "a \";\" is missing after this __shared__ declaration"), true;
    if (syntax_.is(at, "}")) return false;
    if (!syntax_.is_any(at, {"(", "["})) continue;
    if (syntax_.match(at) == kNone)
      return error(at, "this \"" + std::string(syntax_.text(at)) + "\" is never closed"), true;
    at = syntax_.match(at);
  }
  if (at < syntax_.size()) return false;
  return error(i, "the file ends in the middle of this __shared__ declaration"), true;
}

/// Whether a declarator may be whole with the token: a name, `[4]`, `(int)`.
bool Rewriter::ends_declarator(std::size_t i) const {
  if (!syntax_.is(i, ")")) return syntax_.is_name(i) || syntax_.is(i, "]");
  return syntax_.match(i) != kNone && syntax_.match(i) > 0 && !takes_parenthesis(syntax_.text(syntax_.match(i) - 1));
}

/// Whether the token can't go on with a declarator.
bool Rewriter::begins_statement(std::size_t i) const {
  if (!syntax_.is_identifier(i)) return syntax_.is_any(i, {"}", "*", "++", "--"});
  if (is_marker(i) && syntax_.is_any(i + 1, {",", ";"})) return false;
  return !takes_parenthesis(syntax_.text(i)) && !syntax_.is_any(i, {"asm", "__asm__"});
}

/// Says so where the size of the array, whose name is at `name` and whose declarator ends at `stop`, is evidently no constant.
bool Rewriter::refuse_variable_size(std::size_t name, std::size_t stop) {
  for (std::size_t k = name + 1; k < stop; ++k) {
    if (!is_variable(k)) continue;
    error(name,
          "the size of a __shared__ array must be a constant, and " + std::string(syntax_.text(k)) +
              " is none: give the largest size, or declare it `extern __shared__` without a size, and its bytes as "
              "the third argument in <<<>>>");
    return true;
  }
  return false;
}

/// Whether the name is one of blockDim and its like, a number that a function of device code takes, or a local number that isn't const, or
/// is made of such. False where it might be a constant of the same name.
bool Rewriter::is_variable(std::size_t i) const {
  if (!syntax_.is_name(i) || syntax_.is_any(i - 1, {".", "->", "::", "sizeof"}) || in_unevaluated(i)) return false;
  if (syntax_.is_any(i, {"blockDim", "gridDim", "threadIdx", "blockIdx"})) return syntax_.is(i + 1, ".");
  const std::size_t body = function_body_of(i);
  if (body == kNone || syntax_.is_any(i + 1, {"::", "(", "<", "{"})) return false;
  for (std::size_t k = i; --k > body;) {
    const std::size_t scope = syntax_.enclosing(k);
    if (!syntax_.is(k, syntax_.text(i)) || syntax_.is_any(k - 1, {".", "->", "::"})) continue;
    if (syntax_.is(k - 1, ",") && !syntax_.is(scope, "(")) return false;  // declared, perhaps
    if (!syntax_.is_identifier(k - 1) || is_statement_keyword(syntax_.text(k - 1))) continue;
    if (!syntax_.is(scope, "{")) return false;
    if (syntax_.match(scope) < i) continue;  // gone
    std::size_t type = k;
    while (is_number_type(type - 1)) --type;
    if (type == k || !syntax_.is_any(k + 1, {"=", ";", ","})) return false;
    if (syntax_.starts_statement(type)) return true;
    return syntax_.is(type - 1, "const") && syntax_.starts_statement(type - 1) && has_variable_value(k);
  }
  if (!syntax_.is(body - 1, ")") || syntax_.match(body - 1) == kNone) return false;
  for (const auto& [begin, end] : parts(syntax_.match(body - 1))) {
    std::size_t type = parameter_name(begin, end);
    if (type == kNone || syntax_.text(type) != syntax_.text(i)) continue;
    while (type > begin && (is_number_type(type - 1) || syntax_.is(type - 1, "const"))) --type;
    return type == begin;
  }
  return false;
}

/// Whether the number with the name has an initial value that evidently is no constant.
bool Rewriter::has_variable_value(std::size_t name) const {
  bool variable = false;
  for (std::size_t k = name + 1; k < syntax_.size() && !syntax_.is_any(k, {",", ";"}); ++k) {
    if (syntax_.is_any(k, {"?", "&&", "||", "[", "{"})) return false;
    variable = variable || is_variable(k);
  }
  return variable;
}

bool Rewriter::is_number_type(std::size_t i) const {
  return syntax_.is_any(i, {"int", "unsigned", "long", "short", "char", "size_t", "int32_t", "uint32_t"});
}

/// False where that is spread over lines that it must not be.
bool Rewriter::read_shared_type(Shared& d) {
  for (std::size_t k = d.begin; k < d.first; ++k) {
    if (syntax_.token(k).text.find('\n') != std::string_view::npos) return false;
    d.is_extern = d.is_extern || syntax_.is(k, "extern");
    d.has_class = d.has_class || syntax_.is(k, "{");
    if (syntax_.is_any(k, {"extern", "static", "__shared__", "__device__", "inline"})) continue;
    if (syntax_.token(k).kind == TokenKind::string && k > d.begin && syntax_.is(k - 1, "extern")) continue;
    const bool has_argument = syntax_.is(k + 1, "(") && syntax_.match(k + 1) != kNone;
    if (d.is_extern && has_argument &&
        syntax_.is_any(k, {"__align__", "__builtin_align__", "alignas", "__attribute__"})) {
      k = syntax_.match(k + 1);  // the dynamic array is aligned enough, and a cast cannot carry it
      continue;
    }
    if (has_argument && syntax_.is_any(k, {"__align__", "__builtin_align__"})) {
      std::string argument;
      syntax_.join(k + 1, syntax_.match(k + 1) + 1, argument);
      d.type += "__attribute__((aligned" + argument + ")) ";
      k = syntax_.match(k + 1);
      continue;
    }
    d.type += syntax_.text(k);
    d.type += ' ';
  }
  return true;
}

/// Its `,` or `;`.
std::size_t Rewriter::end_of_declarator(std::size_t at) const {
  while (!syntax_.is_any(at, {",", ";"})) {
    if (syntax_.is_any(at, {"(", "[", "{"})) at = syntax_.match(at);
    ++at;
  }
  return at;
}

/// `extern __shared__ float s[];`: what the launch asks for.
bool Rewriter::refer_to_dynamic(const Shared& d, std::size_t from, std::size_t name, std::size_t stop,
                                std::string& text) {
  std::string before;
  std::string after;
  if (!join_without_markers(from, name, before) || !join_without_markers(name + 1, stop, after)) return false;
  text = "auto& " + std::string(syntax_.text(name)) + " = *static_cast<" + d.type + before + "(*)" + after +
         ">(::tilewise::sim::dynamic_shared());";
  return true;
}

/// Any other, which gets a storage type that the block has one of.
bool Rewriter::refer_to_static(Shared& d, std::size_t from, std::size_t name_at, std::size_t stop, std::string& text) {
  const std::string name(syntax_.text(name_at));
  std::string whole;
  if (!join_without_markers(from, stop, whole)) return false;
  const std::string storage = d.has_class ? d.shared_struct() : "tw_shared_" + name;
  if (d.has_class) {
    d.members += (d.members.empty() ? d.type : ", ") + whole;
  } else {
    d.structs += "struct " + storage + " { " + d.type + whole + "; }; ";
  }
  const Token& at = syntax_.token(name_at);
  // In a template `auto&` would have a type that depends on it, and strip.at<3>() would need `template`.
  const bool of_struct = struct_names_.count(trim(d.type)) != 0 && from == name_at && !d.has_class;
  std::string reference = "auto& " + name;
  if (of_struct) {
    std::string after;
    if (!join_without_markers(name_at + 1, stop, after)) return false;
    reference = after.empty() ? d.type + "&" + name : d.type + "(&" + name + ")" + after;
  }
  text = reference + " = ::tilewise::sim::shared_variable<" + storage + ", decltype(" + storage + "::" + name +
         ")>(\"" + name + "\", \"" + source_.files[at.file] + "\", " + std::to_string(at.line) + ")." + name + ";";
  return true;
}

bool Rewriter::join_without_markers(std::size_t begin, std::size_t end, std::string& out) {
  out.clear();
  for (std::size_t k = begin; k < end; ++k) {
    if (syntax_.token(k).text.find('\n') != std::string_view::npos) return false;
    if (is_marker(k)) continue;
    if (!out.empty() && !syntax_.touches(k - 1, k)) out += ' ';
    out += syntax_.text(k);
  }
  return true;
}

/// Functions that mention a `__shared__` variable of namespace scope get a reference to it.
void Rewriter::share_namespace_variables() {
  if (namespace_shared_.empty()) return;
  for (std::size_t body : bodies_) {
    std::size_t close = syntax_.match(body);
    std::map<std::string_view, std::string> wanted;
    for (std::size_t k = body + 1; k < close; ++k) {
      auto found = syntax_.is_identifier(k) ? namespace_shared_.find(syntax_.text(k)) : namespace_shared_.end();
      if (found == namespace_shared_.end() || syntax_.is_any(k - 1, {".", "->", "::"})) continue;
      for (const NamespaceShared& variable : found->second) {
        if (variable.declared < body) wanted[found->first] = variable.text;
      }
    }
    for (const auto& [name, text] : wanted) {
      if (declared_in_head(body, name) || is_shared_in(body, name)) continue;
      insert_after(body, " " + text);
      shared_names_.push_back({name, body, close});
    }
  }
}

/// True when the parameter list before the body declares the name.
bool Rewriter::declared_in_head(std::size_t body, std::string_view name) const {
  for (std::size_t k = body; k-- > 0 && !syntax_.is_any(k, {";", "}", "{"});) {
    if (syntax_.is(k, name) && syntax_.is_any(k + 1, {",", ")", "=", "["})) return true;
  }
  return false;
}

bool Rewriter::is_shared_in(std::size_t body, std::string_view name) const {
  return std::any_of(shared_names_.begin(), shared_names_.end(), [&](const SharedName& shared) {
    return shared.name == name && shared.begin >= body && shared.begin <= syntax_.match(body);
  });
}

bool Rewriter::is_shared_name(std::size_t i) const {
  return std::any_of(shared_names_.begin(), shared_names_.end(), [&](const SharedName& shared) {
    return shared.name == syntax_.text(i) && i >= shared.begin && i < shared.end;
  });
}

/// A `__shared__` variable has static storage: a lambda uses it without capturing it, and `[=]` must not copy it.
void Rewriter::capture_shared_variables() {
  if (shared_names_.empty()) return;
  std::map<std::size_t, std::vector<std::string_view>> captures;  // by the `[` of the lambda
  for (const SharedName& shared : shared_names_) {
    for (std::size_t k = shared.begin; k < shared.end && k < syntax_.size(); ++k) {
      if (!syntax_.opens_lambda(k)) continue;
      std::size_t close = syntax_.match(k);
      std::size_t body = close + 1;
      bool parameter = false;
      while (body < syntax_.size() && !syntax_.is_any(body, {"{", ";", "}"})) {
        if (syntax_.is(body, "(") && syntax_.match(body) != kNone) {
          for (std::size_t p = body; p < syntax_.match(body); ++p) parameter = parameter || syntax_.is(p, shared.name);
          body = syntax_.match(body);
        }
        ++body;
      }
      if (parameter || !syntax_.is(body, "{") || syntax_.match(body) == kNone) continue;
      bool captured = syntax_.is(k + 1, "&") && syntax_.is_any(k + 2, {"]", ","});  // [&] takes it along
      for (std::size_t c = k + 1; c < close; ++c) captured = captured || syntax_.is(c, shared.name);
      bool used = false;
      for (std::size_t u = body; u < syntax_.match(body) && !used; ++u) {
        used = syntax_.is(u, shared.name) && !syntax_.is_any(u - 1, {".", "->", "::"});
      }
      if (used && !captured) captures[k].push_back(shared.name);
    }
  }
  for (auto& [open, names] : captures) {
    std::string text;
    std::set<std::string_view> seen;
    for (std::string_view name : names) {
      if (!seen.insert(name).second) continue;
      if (!text.empty() || syntax_.match(open) > open + 1) text += ", ";
      text += "&" + std::string(name);
    }
    insert_before(syntax_.match(open), text);
  }
}

}  // namespace tilewise::sim
