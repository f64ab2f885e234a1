#include "syntax.hpp"

#include <algorithm>
#include <unordered_set>

namespace tilewise::sim {
namespace {

using Words = std::unordered_set<std::string_view>;

// Deeper nesting of unbraced statements than this is not written by people; it bounds the recursion.
constexpr int kMaxStatementDepth = 500;

}  // namespace

bool takes_parenthesis(std::string_view word) {
  static const Words kWords = {
      "alignas",    "_Alignas", "__align__",  "__builtin_align__", "__attribute__",     "__attribute",
      "__declspec", "decltype", "noexcept",   "explicit",          "__launch_bounds__", "__maxnreg__",
      "requires",   "typeof",   "__typeof__", "__cluster_dims__",  "__block_size__"};
  return kWords.count(word) > 0;
}

bool is_specifier(std::string_view word) {
  static const Words kWords = {"const",          "volatile",   "static",        "extern",       "inline",
                               "constexpr",      "consteval",  "constinit",     "mutable",      "register",
                               "thread_local",   "friend",     "virtual",       "typename",     "__restrict__",
                               "__restrict",     "restrict",   "__extension__", "__shared__",   "__device__",
                               "__host__",       "__global__", "__constant__",  "__managed__",  "__forceinline__",
                               "__noinline__",   "__inline__", "__inline",      "__volatile__", "__grid_constant__",
                               "__inline_hint__"};
  return kWords.count(word) > 0;
}

bool is_builtin_type(std::string_view word) {
  static const Words kWords = {"void",  "bool",     "char",  "char8_t",    "char16_t", "char32_t",  "wchar_t",
                               "short", "int",      "long",  "signed",     "unsigned", "float",     "double",
                               "auto",  "__int128", "_Bool", "__signed__", "_Float16", "__float128"};
  return kWords.count(word) > 0;
}

bool is_statement_keyword(std::string_view word) {
  static const Words kWords = {
      "return",   "else",     "do",      "case",          "default", "goto",    "throw",   "co_return", "co_yield",
      "co_await", "sizeof",   "new",     "delete",        "typeid",  "if",      "for",     "while",     "switch",
      "break",    "continue", "try",     "catch",         "and",     "or",      "not",     "xor",       "bitand",
      "bitor",    "compl",    "alignof", "static_assert", "using",   "typedef", "template"};
  return kWords.count(word) > 0;
}

Syntax::Syntax(const LexedSource& source) : source_(source), tokens_(source.tokens) {
  match_brackets();
  walk_scopes();
}

bool Syntax::is_any(std::size_t i, std::initializer_list<std::string_view> what) const {
  return i < tokens_.size() && std::find(what.begin(), what.end(), tokens_[i].text) != what.end();
}

bool Syntax::is_name(std::size_t i) const {
  return is_identifier(i) && !is_specifier(text(i)) && !is_builtin_type(text(i)) && !is_statement_keyword(text(i)) &&
         !takes_parenthesis(text(i)) &&
         !is_any(i, {"struct", "class", "union", "enum", "operator", "namespace", "this"});
}

void Syntax::match_brackets() {
  match_.assign(tokens_.size(), kNone);
  enclosing_.assign(tokens_.size(), kNone);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    char c = tokens_[i].kind == TokenKind::punctuation && tokens_[i].text.size() == 1 ? tokens_[i].text[0] : '\0';
    if (c == ')' || c == ']' || c == '}') {
      char partner = c == ')' ? '(' : c == ']' ? '[' : '{';
      // In broken code the partner may lie below others; those stay without a match.
      std::size_t depth = open.size();
      while (depth > 0 && tokens_[open[depth - 1]].text[0] != partner) --depth;
      if (depth > 0) {
        match_[i] = open[depth - 1];
        match_[open[depth - 1]] = i;
        open.resize(depth - 1);
      }
    }
    enclosing_[i] = open.empty() ? kNone : open.back();
    if (c == '(' || c == '[' || c == '{') open.push_back(i);
  }
}

std::size_t Syntax::match_angle(std::size_t i) const {
  int depth = 0;
  for (; i < tokens_.size(); ++i) {
    std::string_view t = text(i);
    if (t == "(" || t == "[" || t == "{") {
      i = match(i);
      if (i == kNone) return kNone;
    } else if (t == ")" || t == "]" || t == "}" || t == ";") {
      return kNone;
    } else if (t == "<") {
      ++depth;
    } else if (t == ">") {
      if (--depth == 0) return i;
    }
  }
  return kNone;
}

std::size_t Syntax::match_angle_back(std::size_t i) const {
  int depth = 0;
  for (;; --i) {
    std::string_view t = text(i);
    if (t == ")" || t == "]" || t == "}") {
      i = match(i);
      if (i == kNone) return kNone;
    } else if (t == "(" || t == "[" || t == "{" || t == ";") {
      return kNone;
    } else if (t == ">") {
      ++depth;
    } else if (t == "<") {
      if (--depth == 0) return i;
    }
    if (i == 0) return kNone;
  }
}

bool Syntax::opens_attribute(std::size_t i) const {
  return is(i, "[") && is(i + 1, "[") && match(i) != kNone && match(i + 1) != kNone && match(i + 1) + 1 == match(i);
}

bool Syntax::opens_lambda(std::size_t i) const {
  if (!is(i, "[") || match(i) == kNone || opens_attribute(i) || (i > 0 && opens_attribute(i - 1))) return false;
  if (i == 0) return true;
  const Token& before = token(i - 1);
  if (before.kind == TokenKind::identifier) {
    return is_statement_keyword(before.text) && before.text != "delete" && before.text != "new" &&
           before.text != "operator";
  }
  if (before.kind != TokenKind::punctuation) return false;
  if (before.text == ")" || before.text == "]" || before.text == "}" || before.text == ">") {
    // After `if (..)`, or at the start of a statement after a block, only a lambda can stand here. Both are rare,
    // and so is a subscript of a braced temporary: look at what follows the brackets.
    std::size_t next = match(i) + 1;
    return before.text != "]" && before.text != ">" && is_any(next, {"{", "mutable"});
  }
  return true;
}

std::size_t Syntax::skip_attributes(std::size_t i) const {
  for (;;) {
    if (opens_attribute(i)) {
      i = match(i) + 1;
    } else if (is_any(i, {"__attribute__", "__attribute"}) && is(i + 1, "(") && match(i + 1) != kNone) {
      i = match(i + 1) + 1;
    } else {
      return i;
    }
  }
}

bool Syntax::starts_statement(std::size_t i) const {
  if (i == 0) return true;
  std::size_t before = i - 1;
  if (is_any(before, {";", "{", "}", "else", "do"})) return true;
  if (is(before, ")")) {
    std::size_t open = match(before);
    if (open == kNone || open == 0) return false;
    return is_any(open - 1, {"if", "for", "while", "switch", "constexpr"});
  }
  if (is(before, "]") && match(before) != kNone && opens_attribute(match(before)))
    return starts_statement(match(before));
  if (is(before, ":")) {
    // A label, unless a `?` on the way back to the start of the statement makes it a conditional expression.
    for (std::size_t j = before; j-- > 0;) {
      if (is_any(j, {")", "]", "}"})) {
        if (is(j, "}") || match(j) == kNone) return true;
        j = match(j);
      } else if (is(j, "?")) {
        return false;
      } else if (is_any(j, {";", "{", "case", "default"})) {
        return true;
      } else if (is_any(j, {"(", "["})) {
        return false;
      }
    }
    return true;
  }
  return false;
}

std::size_t Syntax::skip_statement(std::size_t i, int depth) const {
  if (depth > kMaxStatementDepth) return kNone;
  auto after_parenthesis = [&](std::size_t open) {
    return is(open, "(") && match(open) != kNone ? match(open) + 1 : kNone;
  };
  for (;;) {
    i = skip_attributes(i);
    if (i >= size() || is_any(i, {"}", ")", "]"})) return kNone;
    if (is(i, "{")) return match(i) == kNone ? kNone : match(i) + 1;
    if (is(i, "if")) {
      std::size_t branch = i + 1;
      if (is(branch, "constexpr")) ++branch;
      if (is(branch, "!")) ++branch;
      branch = is(branch, "consteval") ? branch + 1 : after_parenthesis(branch);
      if (branch == kNone) return kNone;
      std::size_t end = skip_statement(branch, depth + 1);
      if (end == kNone || !is(end, "else")) return end;
      i = end + 1;  // the else branch ends the statement: no recursion for long else-if chains
      continue;
    }
    if (is_any(i, {"for", "while", "switch"})) {
      i = after_parenthesis(i + 1);
      if (i == kNone) return kNone;
      continue;
    }
    if (is(i, "do")) {
      std::size_t tail = skip_statement(i + 1, depth + 1);
      if (tail == kNone || !is(tail, "while")) return kNone;
      std::size_t end = after_parenthesis(tail + 1);
      return end != kNone && is(end, ";") ? end + 1 : kNone;
    }
    if (is(i, "try")) {
      std::size_t end = skip_statement(i + 1, depth + 1);
      while (end != kNone && is(end, "catch")) {
        std::size_t block = after_parenthesis(end + 1);
        end = block == kNone ? kNone : skip_statement(block, depth + 1);
      }
      return end;
    }
    if (is(i, "case") || (is(i, "default") && is(i + 1, ":"))) {
      int conditionals = 0;
      for (++i; i < size(); ++i) {
        if (is_any(i, {"(", "[", "{"})) {
          i = match(i);
          if (i == kNone) return kNone;
        } else if (is(i, "?")) {
          ++conditionals;
        } else if (is(i, ":") && conditionals-- == 0) {
          break;
        } else if (is_any(i, {";", "}", ")"})) {
          return kNone;
        }
      }
      if (i >= size()) return kNone;
      ++i;
      continue;
    }
    if (is_identifier(i) && is(i + 1, ":")) {
      i += 2;
      continue;
    }
    for (; i < size(); ++i) {
      if (is(i, ";")) return i + 1;
      if (is_any(i, {"(", "[", "{"})) {
        i = match(i);
        if (i == kNone) return kNone;
      } else if (is_any(i, {"}", ")", "]"})) {
        return kNone;
      }
    }
    return kNone;
  }
}

std::vector<std::size_t> Syntax::top_level_commas(std::size_t begin, std::size_t end) const {
  std::vector<std::size_t> commas;
  for (std::size_t i = begin; i < end && i < size(); ++i) {
    if (is_any(i, {"(", "[", "{"})) {
      if (match(i) == kNone) break;
      i = match(i);
    } else if (is(i, "<") && i > begin && is_identifier(i - 1)) {
      // `a < b` or `a<b, c>`: template arguments are followed by something that cannot follow a comparison's `>`.
      std::size_t close = match_angle(i);
      if (close != kNone && close < end &&
          (close + 1 >= end || is_any(close + 1, {"::", "(", "{", ",", ")", ";", ">", "*", "&", "..."}))) {
        i = close;
      }
    } else if (is(i, ",")) {
      commas.push_back(i);
    }
  }
  return commas;
}

// ---------------------------------------------------------------- declarations

bool Syntax::brace_opens_namespace(std::size_t begin, std::size_t brace) const {
  bool named = false;
  for (std::size_t i = begin; i < brace; ++i) {
    if (is(i, "=")) return false;
    if (is_any(i, {"(", "["}) && match(i) != kNone) i = match(i);
    if (is(i, "namespace")) named = true;
  }
  if (named) return true;
  return brace == begin + 2 && is(begin, "extern") && token(begin + 1).kind == TokenKind::string;
}

bool Syntax::brace_opens_class(std::size_t begin, std::size_t brace) const {
  for (std::size_t i = begin; i < brace; ++i) {
    if (is(i, "template") && is(i + 1, "<")) {
      i = match_angle(i + 1);
      if (i == kNone || i >= brace) return false;
    } else if (is_any(i, {"(", "["})) {
      if (match(i) == kNone) return false;
      i = match(i);
    } else if (is_any(i, {"struct", "class", "union"})) {
      for (++i; i < brace; ++i) {
        if (takes_parenthesis(text(i)) && is(i + 1, "(") && match(i + 1) != kNone) {
          i = match(i + 1);
        } else if (opens_attribute(i)) {
          i = match(i);
        } else if (is(i, "<")) {
          i = match_angle(i);
          if (i == kNone || i >= brace) return false;
        } else if (is(i, ":")) {
          return true;  // bases
        } else if (!is_identifier(i) && !is(i, "::")) {
          return false;
        }
      }
      // `struct S {`, but not `struct S s{}`, which looks alike only with two names.
      return true;
    } else if (is(i, "=") || is(i, "enum")) {
      return false;
    }
  }
  return false;
}

bool Syntax::brace_opens_function(std::size_t begin, std::size_t brace) const {
  if (brace == begin) return false;
  if (is_any(brace - 1, {"=", ",", "(", "return", "requires"})) return false;
  if (is(brace - 1, ")") && match(brace - 1) != kNone && match(brace - 1) > 0 && is(match(brace - 1) - 1, "requires"))
    return false;
  bool parameters = false;
  bool member_initialisers = false;
  for (std::size_t i = begin; i < brace; ++i) {
    if (is(i, "template") && is(i + 1, "<")) {
      std::size_t close = match_angle(i + 1);
      if (close == kNone || close >= brace) return false;
      i = close;
    } else if (is(i, "operator")) {
      if (is(i + 1, "(") && match(i + 1) == i + 2)
        i += 2;
      else
        ++i;
    } else if (is_any(i, {"(", "[", "{"})) {
      if (match(i) == kNone) return false;
      if (is(i, "(") && !(i > begin && takes_parenthesis(text(i - 1)))) parameters = true;
      i = match(i);
    } else if (is(i, "=") && !parameters) {
      return false;
    } else if (is(i, ":") && parameters) {
      member_initialisers = true;
    }
  }
  if (!parameters) return false;
  return !member_initialisers || is_any(brace - 1, {")", "}", "..."});
}

void Syntax::walk_scopes() {
  struct Open {
    std::size_t close;
    ScopeKind kind;
    std::size_t declaration;
  };
  scope_.assign(tokens_.size(), ScopeKind::function);
  declaration_begin_.assign(tokens_.size(), kNone);
  std::vector<Open> open = {{kNone, ScopeKind::name_space, 0}};
  std::size_t begin = 0;
  for (std::size_t i = 0; i < tokens_.size();) {
    scope_[i] = open.back().kind;
    declaration_begin_[i] = begin;
    std::size_t next = i + 1;
    if (i == open.back().close) {
      // `struct S { ... } s;` goes on, a namespace is over.
      begin = open.back().kind == ScopeKind::class_scope ? open.back().declaration : next;
      open.pop_back();
    } else if (is_any(i, {";", "}"})) {
      begin = next;
    } else if (is_any(i, {"public", "private", "protected"}) && is(next, ":")) {
      begin = ++next;
    } else if (is(i, "template") && is(next, "<")) {
      std::size_t close = match_angle(next);
      if (close != kNone) next = close + 1;
    } else if (is_any(i, {"(", "["})) {
      if (match(i) != kNone) next = match(i) + 1;
    } else if (is(i, "{") && match(i) != kNone) {
      if (brace_opens_namespace(begin, i)) {
        open.push_back({match(i), ScopeKind::name_space, begin});
        begin = next;
      } else if (brace_opens_class(begin, i)) {
        open.push_back({match(i), ScopeKind::class_scope, begin});
        begin = next;
      } else {
        bool function = brace_opens_function(begin, i);
        next = match(i) + 1;
        if (function) begin = next;
      }
    }
    i = next;
  }
}

std::size_t Syntax::declaration_begin(std::size_t i) const {
  if (declaration_begin_[i] != kNone) return declaration_begin_[i];
  // In a function: back over specifiers and type names.
  while (i > 0) {
    std::size_t before = i - 1;
    if (is_identifier(before) && (!is_statement_keyword(text(before)) || is_any(before, {"typedef", "using"}))) {
      i = before;
    } else if (is(before, "::")) {
      i = before;
    } else if (is(before, "]") && match(before) != kNone && opens_attribute(match(before))) {
      i = match(before);
    } else if (is(before, ")") && match(before) != kNone && match(before) > 0 &&
               takes_parenthesis(text(match(before) - 1)) && !is(match(before) - 1, "requires")) {
      i = match(before) - 1;
    } else if (is(before, ">") && match_angle_back(before) != kNone && match_angle_back(before) > 0) {
      i = match_angle_back(before) - 1;
    } else {
      break;
    }
  }
  return i;
}

std::size_t Syntax::skip_type(std::size_t i) const {
  bool have_type = false;
  bool builtin = false;
  while (i < size()) {
    if (takes_parenthesis(text(i)) && is(i + 1, "(")) {
      have_type = have_type || is_any(i, {"decltype", "typeof", "__typeof__"});
      if (match(i + 1) == kNone) return kNone;
      i = match(i + 1) + 1;
    } else if (opens_attribute(i)) {
      i = match(i) + 1;
    } else if (is_specifier(text(i))) {
      ++i;
    } else if (is_builtin_type(text(i)) && (!have_type || builtin)) {
      have_type = builtin = true;
      ++i;
    } else if (!have_type && is_any(i, {"struct", "class", "union", "enum"})) {
      ++i;
      while (takes_parenthesis(text(i)) && is(i + 1, "(") && match(i + 1) != kNone) i = match(i + 1) + 1;
      have_type = is(i, "{");
    } else if (is(i, "{") && i > 0 && have_type && !builtin) {
      if (match(i) == kNone) return kNone;
      i = match(i) + 1;
    } else if (!have_type && (is_identifier(i) || is(i, "::"))) {
      have_type = true;
      if (is(i, "::")) ++i;
      for (;;) {
        if (is(i, "template")) ++i;
        if (!is_identifier(i)) return kNone;
        ++i;
        if (is(i, "<")) {
          i = match_angle(i);
          if (i == kNone) return kNone;
          ++i;
        }
        if (!is(i, "::")) break;
        ++i;
      }
    } else {
      return have_type ? i : kNone;
    }
  }
  return kNone;
}

std::size_t Syntax::parse_declarators(std::size_t i, std::vector<Declarator>& out) const {
  while (i < size()) {
    Declarator declarator;
    // Prefix: pointers, references and opening parentheses; then the name.
    while (i < size()) {
      if (is_any(i, {"*", "&", "&&", "(", "::"}) || is_specifier(text(i))) {
        ++i;
      } else if (takes_parenthesis(text(i)) && is(i + 1, "(") && match(i + 1) != kNone) {
        i = match(i + 1) + 1;
      } else if (opens_attribute(i)) {
        i = match(i) + 1;
      } else {
        break;
      }
    }
    if (!is_identifier(i)) return kNone;
    declarator.name_begin = declarator.name = i++;
    while (is(i, "<") || is(i, "::")) {  // a qualified name: `S<int>::x`
      if (is(i, "<")) {
        i = match_angle(i);
        if (i == kNone) return kNone;
        ++i;
      } else {
        if (!is_identifier(i + 1)) return kNone;
        declarator.name = i + 1;
        i += 2;
      }
    }
    // Suffix: arrays, function pointer parameters, the initial value.
    std::size_t value = kNone;
    while (i < size() && !is_any(i, {",", ";"})) {
      if (is_any(i, {"=", "{"}) && value == kNone) {
        value = i;
        declarator.initialised = true;
      }
      if (is_any(i, {"(", "[", "{"})) {
        if (match(i) == kNone) return kNone;
        i = match(i) + 1;
      } else if (value != kNone && is(i, "<") && is_identifier(i - 1) && match_angle(i) != kNone &&
                 is_any(match_angle(i) + 1, {"::", "(", "{", ",", ";"})) {
        i = match_angle(i) + 1;
      } else if (is_any(i, {"]", "}"})) {
        return kNone;
      } else {
        ++i;  // `)` closes the prefix of `(*pointer)[4]`
      }
    }
    out.push_back(declarator);
    if (is(i, ";")) return i;
    ++i;
  }
  return kNone;
}

std::size_t Syntax::function_body(std::size_t i) const {
  // After the parameters: qualifiers, exception specification, trailing return type, constraints, member initialisers.
  bool in_initialisers = false;
  for (; i < size(); ++i) {
    if (is(i, ";") || is_any(i, {")", "]", "}"})) return kNone;
    if (is(i, ":")) {
      in_initialisers = true;
    } else if (is_any(i, {"(", "["})) {
      if (match(i) == kNone) return kNone;
      i = match(i);
    } else if (is(i, "requires")) {
      if (is(i + 1, "{") && match(i + 1) != kNone) {
        i = match(i + 1);
      } else if (is(i + 1, "(") && match(i + 1) != kNone) {
        std::size_t close = match(i + 1);
        // `requires (T t) { ... }` is an expression when another `requires` or an operator leads to it.
        bool expression = is_any(i - 1, {"requires", "&&", "||", "("});
        i = expression && is(close + 1, "{") && match(close + 1) != kNone ? match(close + 1) : close;
      }
    } else if (is(i, "{")) {
      if (match(i) == kNone) return kNone;
      if (in_initialisers && (is_identifier(i - 1) || is(i - 1, ">")) && !is(i - 1, "try")) {
        i = match(i);
      } else {
        return i;
      }
    } else if (is(i, "=")) {
      return kNone;  // = default, = delete, = 0
    }
  }
  return kNone;
}

/// Reads a declaration from left to right, up to what tells whether it is one of a function or of variables.
class Syntax::DeclarationReader {
 public:
  DeclarationReader(const Syntax& syntax, std::size_t begin) : s_(syntax), i_(begin) { result_.begin = begin; }

  Declaration read() {
    if (!read_template() || s_.is_any(i_, {"using", "typedef", "namespace", "static_assert"})) return result_;
    while (i_ < s_.size() && read_next()) {
    }
    return result_;
  }

 private:
  /// `template <...>`, again and again. False where that never ends.
  bool read_template() {
    while (s_.is(i_, "template") || (s_.is(i_, "extern") && s_.is(i_ + 1, "template"))) {
      if (s_.is(i_, "extern")) ++i_;
      if (!s_.is(i_ + 1, "<")) {
        result_.is_explicit_instantiation = true;
        ++i_;
        break;
      }
      result_.is_template = true;
      const std::size_t close = s_.match_angle(i_ + 1);
      if (close == kNone) return false;
      i_ = close + 1;
    }
    return true;
  }

  /// False when it's known what is declared, or can't be.
  bool read_next() {
    if (takes_parenthesis(s_.text(i_)) && s_.is_any(i_ + 1, {"(", "{"})) return skip_argument();
    if (s_.opens_attribute(i_)) return i_ = s_.match(i_) + 1, true;
    if (s_.is(i_, "operator")) return finish_operator(), false;
    if (s_.is_any(i_, {"struct", "class", "union", "enum"})) return read_class();
    if (s_.is(i_, "::") || s_.is(i_, "~")) return read_part_of_name(), true;
    if (s_.is_identifier(i_)) return read_identifier();
    if (s_.is(i_, "(")) return finish_at_parenthesis(), false;
    if (s_.is_any(i_, {"=", ";", ",", "[", "{"})) {
      if (name_ != kNone && s_.is_name(name_)) finish_variable(name_begin_);
      return false;
    }
    if (!s_.is_any(i_, {"*", "&", "&&", "..."}) && s_.token(i_).kind != TokenKind::string) return false;
    name_complete_ = true;
    ++i_;
    return true;
  }

  /// `alignas(16)`, `decltype(x)`, `requires { ... }`.
  bool skip_argument() {
    const bool constraint = s_.is(i_, "requires");
    if (s_.match(i_ + 1) == kNone) return false;
    i_ = s_.match(i_ + 1) + 1;
    if (constraint && s_.is(i_, "{") && s_.match(i_) != kNone) i_ = s_.match(i_) + 1;
    name_complete_ = true;
    return true;
  }

  void finish_operator() {
    std::size_t start = name_complete_ || name_begin_ == kNone ? i_ : name_begin_;
    if (i_ > 0 && !s_.is(i_ - 1, "::")) start = i_;
    std::size_t j = i_ + 1;
    if (s_.is_any(j, {"(", "["}) && s_.match(j) == j + 1) j += 2;
    while (j < s_.size() && !s_.is_any(j, {"(", ";", "{", "}"})) ++j;
    if (s_.is(j, "(")) finish_function(j, start, j - 1);
  }

  bool read_class() {
    std::size_t j = i_ + 1;
    while (j < s_.size() && !s_.is_any(j, {"{", ";", "=", "(", "*", "&"})) {
      if (takes_parenthesis(s_.text(j)) && s_.is(j + 1, "(") && s_.match(j + 1) != kNone) j = s_.match(j + 1);
      ++j;
    }
    if (s_.is(j, "{") && s_.match(j) != kNone && s_.brace_opens_class(i_, j)) {
      i_ = s_.match(j) + 1;
      if (s_.is(i_, ";")) return false;
    } else {
      ++i_;
      if (s_.is_identifier(i_)) ++i_;
    }
    name_begin_ = kNone;
    name_complete_ = true;
    return true;
  }

  /// `::` or `~`.
  void read_part_of_name() {
    const bool scope = s_.is(i_, "::");
    if (name_complete_ && scope && i_ > 0 && s_.is_any(i_ - 1, {">"})) name_complete_ = false;
    if (scope ? !(i_ > 0 && (s_.is_identifier(i_ - 1) || s_.is(i_ - 1, ">"))) : !(i_ > 0 && s_.is(i_ - 1, "::")))
      name_begin_ = i_, name_complete_ = false;
    ++i_;
  }

  bool read_identifier() {
    const bool continues = i_ > 0 && s_.is_any(i_ - 1, {"::", "~"}) && name_begin_ != kNone;
    if (!continues) name_begin_ = i_;
    name_ = i_;
    name_complete_ = false;
    ++i_;
    if (s_.is(i_, "<") && s_.is_name(i_ - 1)) {
      const std::size_t close = s_.match_angle(i_);
      if (close == kNone) return false;
      i_ = close + 1;
    }
    return true;
  }

  /// Parameters, an initial value, or a declarator such as `(*f)(int)`.
  void finish_at_parenthesis() {
    const bool pointer_declarator =
        s_.is_any(i_ + 1, {"*", "&", "&&"}) || (s_.is_identifier(i_ + 1) && s_.is(i_ + 2, "::") && s_.is(i_ + 3, "*"));
    const bool named = name_ != kNone && (s_.is_name(name_) || s_.is_any(i_ - 1, {">"}));
    const bool value = i_ + 1 < s_.size() &&
                       (s_.token(i_ + 1).kind == TokenKind::number || s_.token(i_ + 1).kind == TokenKind::string ||
                        s_.token(i_ + 1).kind == TokenKind::character);
    if (pointer_declarator) {
      finish_variable(i_);
    } else if (value && named) {
      finish_variable(name_begin_);
    } else if (named) {
      finish_function(i_, name_begin_, name_);
    }
  }

  void finish_function(std::size_t parameters, std::size_t name_begin, std::size_t name) {
    result_.kind = DeclKind::function;
    result_.parameters = parameters;
    result_.name_begin = name_begin;
    result_.name = name;
    if (s_.match(parameters) == kNone) return;
    result_.body = s_.function_body(s_.match(parameters) + 1);
    if (result_.body != kNone) result_.end = s_.match(result_.body);
  }

  void finish_variable(std::size_t first) {
    result_.end = s_.parse_declarators(first, result_.declarators);
    if (result_.end != kNone) result_.kind = DeclKind::variable;
  }

  const Syntax& s_;
  std::size_t i_;
  Declaration result_;
  std::size_t name_begin_ = kNone;  // of the qualified name read last
  std::size_t name_ = kNone;
  bool name_complete_ = false;  // the next identifier starts another name
};

Declaration Syntax::parse_declaration(std::size_t begin) const { return DeclarationReader(*this, begin).read(); }

bool Syntax::join(std::size_t begin, std::size_t end, std::string& out) const {
  out.clear();
  for (std::size_t i = begin; i < end && i < size(); ++i) {
    if (token(i).text.find('\n') != std::string_view::npos) return false;
    if (i > begin && !touches(i - 1, i)) out += ' ';
    out += token(i).text;
  }
  return true;
}

}  // namespace tilewise::sim
