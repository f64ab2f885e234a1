// The kernels of a source, for who launches them from elsewhere: kernel_list().
#include "rewriter.hpp"
#include "syntax.hpp"

namespace tilewise::sim {
namespace {

// The name of the parameter in [begin, end), empty where it has none: `const float* a`, `float (&a)[4]`, `int a[2]`.
std::string_view parameter_name(const Syntax& syntax, std::size_t begin, std::size_t end) {
  std::size_t last = end;
  while (last > begin + 1 && syntax.is(last - 1, "]")) last = syntax.match(last - 1);
  if (last > begin && syntax.is(last - 1, ")") && syntax.match(last - 1) > begin) --last;
  if (last < begin + 2 || !syntax.is_name(last - 1) || is_builtin_type(syntax.text(last - 1))) return "";
  if (syntax.is(last - 2, "::")) return "";
  for (std::size_t k = begin; k + 1 < last; ++k) {  // something before the name is the type
    if (syntax.is_identifier(k) && !is_specifier(syntax.text(k))) return syntax.text(last - 1);
  }
  return "";
}

// `a::b::`, the namespaces around token i; nothing for those without a name.
std::string namespaces_around(const Syntax& syntax, std::size_t i) {
  std::string path;
  for (std::size_t brace = syntax.enclosing(i); brace != kNone; brace = syntax.enclosing(brace)) {
    std::size_t first = brace;
    std::string name;
    while (first > 0 && (syntax.is(first - 1, "::") || syntax.is_name(first - 1)))
      name = std::string(syntax.text(--first)) + name;
    if (!name.empty() && first > 0 && syntax.is(first - 1, "namespace")) path = name + "::" + path;
  }
  return path;
}

}  // namespace

std::string kernel_list(std::string_view preprocessed_source, std::string_view file) {
  const LexedSource source = lex(preprocessed_source, file);
  const Syntax syntax(source);
  std::string list;
  std::size_t done = 0;
  for (std::size_t i = 0; i < syntax.size(); ++i) {
    if (!syntax.is(i, "__global__") || i < done || syntax.scope_of(i) == ScopeKind::function) continue;
    if (source.files[syntax.token(i).file] != file) continue;
    const Declaration decl = syntax.parse_declaration(syntax.declaration_begin(i));
    if (decl.kind != DeclKind::function || decl.body == kNone) continue;
    done = decl.end;
    std::string name;
    if (!syntax.join(decl.name_begin, decl.name + 1, name)) continue;
    const std::size_t open = decl.parameters, close = syntax.match(open);
    list += std::to_string(syntax.token(decl.begin).line) + (decl.is_template ? "\ttemplate\t" : "\tkernel\t") +
            namespaces_around(syntax, decl.begin) + name;
    for (std::size_t begin = open + 1; begin < close;) {
      std::size_t end = begin;
      for (; end < close && !syntax.is(end, ","); ++end) {
        if (syntax.is_any(end, {"(", "[", "{"})) end = syntax.match(end);
        if (syntax.is(end, "<") && syntax.is_identifier(end - 1) && syntax.match_angle(end) < close)
          end = syntax.match_angle(end);
      }
      std::size_t declared = begin;  // without a default value
      while (declared < end && !syntax.is(declared, "=")) ++declared;
      std::string text;
      for (std::size_t k = begin; k < declared; ++k) {
        const bool blank = k > begin && !syntax.touches(k - 1, k);
        text += (blank ? " " : "") + std::string(syntax.text(k));
      }
      list += "\t" + std::string(parameter_name(syntax, begin, declared)) + "\t" + text;
      begin = end + 1;
    }
    list += "\n";
  }
  return list;
}

}  // namespace tilewise::sim
