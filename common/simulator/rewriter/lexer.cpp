#include "lexer.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

namespace tilewise::sim {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_identifier_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_identifier_char(char c) { return is_identifier_start(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

/// Headers of the simulator's whose functions kernels run: accesses there count, and loops are followed, as in the program's own.
bool is_taken_for_the_programs(std::string_view file) {
  return file.find("/tilewise_cub/kernels/") != std::string_view::npos;
}

/// A line marker: `# 12 "file.cu" 1 3`, or `#line 12 "file.cu"`.
struct LineMarker {
  int line = 0;
  std::string_view file;  // between the quotes
  bool system = false;    // flag 3
};

bool parse_line_marker(std::string_view text, LineMarker& marker) {
  std::size_t i = 1;  // after '#'
  auto skip_blanks = [&] {
    while (i < text.size() && is_blank(text[i])) ++i;
  };
  skip_blanks();
  if (text.substr(i, 4) == "line") i += 4;
  skip_blanks();
  if (i >= text.size() || !is_digit(text[i])) return false;
  long line = 0;
  for (; i < text.size() && is_digit(text[i]); ++i) line = std::min(line * 10 + (text[i] - '0'), 1000000000L);
  marker.line = static_cast<int>(line);
  skip_blanks();
  if (i >= text.size() || text[i] != '"') return true;  // the file stays the same
  std::size_t begin = ++i;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  marker.file = text.substr(begin, std::min(i, text.size()) - begin);
  for (++i; i < text.size(); ++i) {
    if (text[i] == '3' && is_blank(text[i - 1])) marker.system = true;
  }
  return true;
}

class Lexer {
 public:
  Lexer(std::string_view source, std::string_view file) : source_(source) {
    result_.text = source;
    file_ = file_index(file);
    user_files_.insert(std::string(file));
    find_headers_with_device_code();
  }

  LexedSource run() {
    while (position_ < source_.size()) step();
    return std::move(result_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return position_ + ahead < source_.size() ? source_[position_ + ahead] : '\0';
  }

  int file_index(std::string_view name) {
    auto [found, is_new] = file_numbers_.try_emplace(std::string(name), static_cast<int>(result_.files.size()));
    if (is_new) result_.files.emplace_back(name);
    return found->second;
  }

  void step() {
    char c = source_[position_];
    if (c == '\n') {
      ++line_;
      ++position_;
      at_line_start_ = true;
    } else if (is_blank(c)) {
      ++position_;
    } else if (c == '#' && at_line_start_) {
      directive();
    } else if (c == '\\' && position_ + 1 == end_of_line()) {
      result_.line_joints.push_back(position_++);
    } else if (c == '/' && peek(1) == '/') {
      position_ = end_of_line();
    } else if (c == '/' && peek(1) == '*') {
      std::size_t end = source_.find("*/", position_ + 2);
      advance_over_lines(end == std::string_view::npos ? source_.size() : end + 2);
    } else {
      at_line_start_ = false;
      token(c);
    }
  }

  std::size_t end_of_line() const {
    std::size_t end = source_.find('\n', position_);
    return end == std::string_view::npos ? source_.size() : end;
  }

  void advance_over_lines(std::size_t end) {
    line_ += static_cast<int>(std::count(source_.begin() + position_, source_.begin() + end, '\n'));
    position_ = end;
  }

  void directive() {
    std::size_t end = end_of_line();
    LineMarker marker;
    result_.directives.push_back({position_, end});
    bool is_marker = parse_line_marker(source_.substr(position_, end - position_), marker);
    position_ = end;
    if (!is_marker) return;
    line_ = marker.line - 1;  // the newline that follows counts up
    if (marker.file.empty()) return;
    file_ = file_index(marker.file);
    if (!marker.system || is_taken_for_the_programs(marker.file)) {
      user_files_.insert(std::string(marker.file));
    } else if (!user_files_.count(std::string(marker.file))) {
      skip_system_header();
    }
    // Otherwise: a macro of a system header, such as NULL, expanded in the user's file. That is user code.
  }

  /// System headers whose functions are marked for the device, as Boost's are: they're taken for the program's.
  void find_headers_with_device_code() {
    for (const std::string_view word : {"__host__", "__device__"}) {
      for (std::size_t at = 0; (at = source_.find(word, at)) != std::string_view::npos; at += word.size()) {
        const std::string_view file = file_of(at);
        if (!file.empty()) user_files_.insert(std::string(file));
      }
    }
  }

  /// The file that the line marker before `position` names; empty where none does.
  std::string_view file_of(std::size_t position) const {
    for (std::size_t at = position; (at = source_.rfind("\n#", at)) != std::string_view::npos && at > 0; --at) {
      LineMarker marker;
      const std::size_t begin = at + 1, end = std::min(source_.find('\n', begin), source_.size());
      if (parse_line_marker(source_.substr(begin, end - begin), marker) && !marker.file.empty()) return marker.file;
    }
    return {};
  }

  /// Goes on to the next line marker without looking at the text.
  void skip_system_header() {
    while (position_ < source_.size()) {
      std::size_t newline = source_.find("\n#", position_);
      if (newline == std::string_view::npos) {
        position_ = source_.size();
        return;
      }
      position_ = newline + 1;
      LineMarker marker;
      if (parse_line_marker(source_.substr(position_, end_of_line() - position_), marker)) {
        at_line_start_ = true;
        return;
      }
    }
  }

  void token(char c) {
    std::size_t begin = position_;
    int line = line_;
    TokenKind kind = TokenKind::punctuation;
    if (is_identifier_start(c)) {
      while (is_identifier_char(peek())) ++position_;
      kind = TokenKind::identifier;
      std::string_view word = source_.substr(begin, position_ - begin);
      bool prefix = word == "L" || word == "u" || word == "U" || word == "u8";
      bool raw_prefix = word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
      if (peek() == '"' && raw_prefix) {
        raw_string();
        kind = TokenKind::string;
      } else if (peek() == '"' && prefix) {
        quoted('"');
        kind = TokenKind::string;
      } else if (peek() == '\'' && prefix) {
        quoted('\'');
        kind = TokenKind::character;
      }
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
      kind = TokenKind::number;
    } else if (c == '"') {
      quoted('"');
      kind = TokenKind::string;
    } else if (c == '\'') {
      quoted('\'');
      kind = TokenKind::character;
    } else {
      punctuation();
    }
    result_.tokens.push_back({kind, source_.substr(begin, position_ - begin), begin, file_, line});
  }

  void number() {
    ++position_;
    for (;;) {
      char c = peek();
      char before = source_[position_ - 1];
      bool sign = (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      bool separator = c == '\'' && is_identifier_char(peek(1));
      // 0xE+1 is one preprocessing number too: the compiler rejects it, not we.
      if (!is_identifier_char(c) && c != '.' && !sign && !separator) return;
      ++position_;
    }
  }

  void literal_suffix() {
    while (is_identifier_char(peek())) ++position_;
  }

  void quoted(char quote) {
    ++position_;
    while (position_ < source_.size() && peek() != quote && peek() != '\n') {
      position_ += peek() == '\\' && peek(1) != '\n' ? 2 : 1;
    }
    position_ = std::min(position_, source_.size());
    if (peek() == quote) ++position_;
    literal_suffix();
  }

  void raw_string() {
    std::size_t open = source_.find('(', position_);
    if (open == std::string_view::npos || open - position_ > 17) return quoted('"');
    std::string close = ")" + std::string(source_.substr(position_ + 1, open - position_ - 1)) + "\"";
    std::size_t end = source_.find(close, open);
    advance_over_lines(end == std::string_view::npos ? source_.size() : end + close.size());
    literal_suffix();
  }

  void punctuation() {
    static constexpr std::string_view kLong[] = {
        "...", "->*", "<=>", "::", "->", "==", "!=", "<=", ">=", "&&", "||", "++",
        "--",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", ".*", "##"};
    for (std::string_view candidate : kLong) {
      if (source_.substr(position_, candidate.size()) == candidate) {
        position_ += candidate.size();
        return;
      }
    }
    ++position_;
  }

  std::string_view source_;
  std::size_t position_ = 0;
  int line_ = 1;
  int file_ = 0;
  bool at_line_start_ = true;
  LexedSource result_;
  std::unordered_map<std::string, int> file_numbers_;
  std::unordered_set<std::string> user_files_;
};

}  // namespace

LexedSource lex(std::string_view source, std::string_view file) { return Lexer(source, file).run(); }

}  // namespace tilewise::sim
