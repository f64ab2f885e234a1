// Splits preprocessed C++ into tokens. Knows just enough of the language to never mistake the inside of a string,
// a character literal or a comment for code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::sim {

enum class TokenKind : std::uint8_t { identifier, number, string, character, punctuation };

/// `<` and `>` are always tokens of their own, so that `>>>` and `k<a<b>>` need no guessing here.
struct Token {
  TokenKind kind;
  std::string_view text;
  std::size_t begin;  ///< offset in the source
  int file;           ///< index into LexedSource::files
  int line;

  std::size_t end() const { return begin + text.size(); }
};

/// A line that starts with `#`: a line marker or a pragma. `end` is the offset of its newline.
struct Directive {
  std::size_t begin;
  std::size_t end;
};

struct LexedSource {
  std::string_view text;
  std::vector<Token> tokens;             ///< of user code only: system headers are left out
  std::vector<Directive> directives;     ///< of user code only
  std::vector<std::size_t> line_joints;  ///< where a backslash ends a line
  std::vector<std::string> files;        ///< as spelled inside the quotes of a line marker, escapes and all
};

/// `file` names the source up to the first line marker.
LexedSource lex(std::string_view source, std::string_view file);

}  // namespace tilewise::sim
