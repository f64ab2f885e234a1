// Questions about a token stream that need no knowledge of types: which bracket closes which, where a template
// argument list or a statement ends, what a declaration declares.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "lexer.hpp"

namespace tilewise::sim {

/// Token index that means "there is none".
inline constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// Where a declaration stands.
enum class ScopeKind : std::uint8_t { function, name_space, class_scope };

/// What a declaration with a CUDA marker declares.
enum class DeclKind : std::uint8_t { function, variable, other };

struct Declarator {
  std::size_t name_begin = kNone;  ///< first token of `ns::name`
  std::size_t name = kNone;        ///< the name itself
  bool initialised = false;
};

struct Declaration {
  DeclKind kind = DeclKind::other;
  std::size_t begin = kNone;  ///< first token
  bool is_template = false;   ///< has a `template <...>` head
  bool is_explicit_instantiation = false;
  std::size_t name_begin = kNone;       ///< functions: first token of the qualified name
  std::size_t name = kNone;             ///< functions: last token of the name
  std::size_t parameters = kNone;       ///< functions: the `(`
  std::size_t body = kNone;             ///< functions: the `{`, or kNone for a mere declaration
  std::vector<Declarator> declarators;  ///< variables
  std::size_t end = kNone;              ///< the last token: `;`, or the `}` of the body
};

class Syntax {
 public:
  explicit Syntax(const LexedSource& source);

  std::size_t size() const { return tokens_.size(); }
  const Token& token(std::size_t i) const { return tokens_[i]; }
  /// Empty past either end, so that callers may look around freely.
  std::string_view text(std::size_t i) const { return i < tokens_.size() ? tokens_[i].text : std::string_view(); }
  bool is(std::size_t i, std::string_view what) const { return text(i) == what; }
  bool is_any(std::size_t i, std::initializer_list<std::string_view> what) const;
  bool is_identifier(std::size_t i) const { return i < tokens_.size() && tokens_[i].kind == TokenKind::identifier; }
  /// A name that may be called or declared: an identifier that is no keyword.
  bool is_name(std::size_t i) const;
  /// No blank between the tokens.
  bool touches(std::size_t i, std::size_t next) const { return tokens_[i].end() == tokens_[next].begin; }

  /// The partner of `(`, `)`, `[`, `]`, `{`, `}`; kNone when there is none.
  std::size_t match(std::size_t i) const { return i < match_.size() ? match_[i] : kNone; }
  /// The innermost bracket that is open at token i; kNone at the outermost level.
  std::size_t enclosing(std::size_t i) const { return i < enclosing_.size() ? enclosing_[i] : kNone; }
  /// The `>` that closes the template argument list opened at i.
  std::size_t match_angle(std::size_t i) const;
  /// The `<` that opens the template argument list closed at i.
  std::size_t match_angle_back(std::size_t i) const;
  /// True when i is the `[` of an attribute `[[...]]`.
  bool opens_attribute(std::size_t i) const;
  /// True when i is the `[` of a lambda's capture list.
  bool opens_lambda(std::size_t i) const;
  /// First token after the `[[...]]` groups at i.
  std::size_t skip_attributes(std::size_t i) const;
  /// True when a statement can start at token i, given what comes before.
  bool starts_statement(std::size_t i) const;
  /// One past the last token of the statement at i, loops, `else` branches and all; kNone when it is broken off.
  std::size_t skip_statement(std::size_t i) const { return skip_statement(i, 0); }
  /// The `,` at the top level of [begin, end), commas inside template arguments left out.
  std::vector<std::size_t> top_level_commas(std::size_t begin, std::size_t end) const;

  /// Where the declaration that token i belongs to stands. Only for tokens outside brackets of their declaration.
  ScopeKind scope_of(std::size_t i) const { return scope_[i]; }
  /// First token of the declaration that token i belongs to.
  std::size_t declaration_begin(std::size_t i) const;
  /// Reads the declaration that starts at `begin`.
  Declaration parse_declaration(std::size_t begin) const;
  /// Reads declarators, separated by commas, up to the `;`. Returns the index of the `;` or kNone.
  std::size_t parse_declarators(std::size_t begin, std::vector<Declarator>& out) const;
  /// End of the type at the start of a declaration: first token of the first declarator.
  std::size_t skip_type(std::size_t i) const;

  /// Source text of tokens [begin, end) on one line, blanks kept as single spaces.
  /// False when a token itself spans lines.
  bool join(std::size_t begin, std::size_t end, std::string& out) const;

 private:
  class DeclarationReader;

  void match_brackets();
  void walk_scopes();
  std::size_t skip_statement(std::size_t i, int depth) const;
  std::size_t function_body(std::size_t after_parameters) const;
  bool brace_opens_namespace(std::size_t begin, std::size_t brace) const;
  bool brace_opens_class(std::size_t begin, std::size_t brace) const;
  bool brace_opens_function(std::size_t begin, std::size_t brace) const;

  const LexedSource& source_;
  const std::vector<Token>& tokens_;
  std::vector<std::size_t> match_;
  std::vector<std::size_t> enclosing_;
  std::vector<ScopeKind> scope_;
  std::vector<std::size_t> declaration_begin_;
};

/// `alignas`, `__launch_bounds__` and others that are followed by a parenthesis which is no parameter list.
bool takes_parenthesis(std::string_view word);
/// `const`, `static`, `__shared__`, ...: may stand before, in or after a type without naming it.
bool is_specifier(std::string_view word);
/// `int`, `unsigned`, `auto`, ...
bool is_builtin_type(std::string_view word);
/// A keyword that ends what came before it: `return`, `else`, ...
bool is_statement_keyword(std::string_view word);

}  // namespace tilewise::sim
