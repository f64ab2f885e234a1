#include "columns.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tilewise::sim {
namespace {

constexpr std::size_t kNoColumn = 0;  // they count from 1
constexpr std::size_t kTab = 8;
constexpr std::size_t kNoToken = static_cast<std::size_t>(-1);
constexpr std::size_t kMostCells = std::size_t{1} << 22;  // of a comparison of two lines

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }
bool is_blank_in_line(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// A token of one line.
struct LineToken {
  std::size_t begin;
  std::string_view text;

  std::size_t end() const { return begin + text.size(); }
};

std::size_t end_of_quotes(std::string_view line, std::size_t at) {
  std::size_t end = at + 1;
  while (end < line.size() && line[end] != line[at]) end += line[end] == '\\' ? 2 : 1;
  return std::min(end + 1, line.size());
}

/// Those of a line, without comments.
std::vector<LineToken> tokens_of_line(std::string_view line) {
  std::vector<LineToken> pieces;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at + 1;
    if (is_blank_in_line(line[at])) {
      at = end;
      continue;
    }
    if (line.substr(at, 2) == "//") break;
    if (line.substr(at, 2) == "/*") {
      const std::size_t close = line.find("*/", at + 2);
      at = close == std::string_view::npos ? line.size() : close + 2;
      continue;
    }
    if (line[at] == '"' || line[at] == '\'')
      end = end_of_quotes(line, at);
    else if (is_of_word(line[at]))
      while (end < line.size() && is_of_word(line[end])) ++end;
    pieces.push_back({at, line.substr(at, end - at)});
    at = end;
  }
  return pieces;
}

/// For each token of `a` the one of `b` that it is: of the longest sequence of tokens that both have. kNoToken for the others.
std::vector<std::size_t> common_tokens(const std::vector<LineToken>& a, const std::vector<LineToken>& b) {
  std::vector<std::size_t> found(a.size(), kNoToken);
  const std::size_t width = b.size() + 1;
  if (a.empty() || b.empty() || (a.size() + 1) * width > kMostCells) return found;
  std::vector<unsigned> length((a.size() + 1) * width);  // of what is common after each pair of places
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      length[i * width + j] = a[i].text == b[j].text ? length[(i + 1) * width + j + 1] + 1
                                                     : std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].text == b[j].text)
      found[i++] = j++;
    else if (length[(i + 1) * width + j] >= length[i * width + j + 1])
      ++i;
    else
      ++j;
  }
  return found;
}

/// Columns that a terminal has shown a line in, with one more byte of it; past its end there are blanks.
std::size_t wider(std::size_t width, std::string_view line, std::size_t byte) {
  const char c = byte < line.size() ? line[byte] : ' ';
  if (c == '\t') return width + kTab - width % kTab;
  return (c & 0xC0) == 0x80 ? width : width + 1;  // in UTF-8 a character's first byte counts
}

std::size_t width_of(std::string_view line, std::size_t bytes) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < bytes; ++i) width = wider(width, line, i);
  return width;
}

/// A line of the source, and what became of it.
class ShownLine {
 public:
  ShownLine() = default;
  ShownLine(std::string source, const std::vector<std::string_view>& rewritten) : source_(std::move(source)) {
    const std::vector<LineToken> own = tokens_of_line(source_);
    for (const std::string_view line : rewritten) {
      const std::vector<LineToken> pieces = tokens_of_line(line);
      const std::vector<std::size_t> common = common_tokens(pieces, own);
      std::size_t next = 0;  // of the source's tokens
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        const bool is_same = common[i] != kNoToken;
        const bool is_new =
            std::find(common.begin() + static_cast<std::ptrdiff_t>(i), common.end(), next) != common.end();
        if (is_same)
          next = common[i] + 1;
        else if (next >= own.size() || is_new)  // it stands for nothing in the source
          continue;
        const LineToken& in_source = own[is_same ? common[i] : next];
        tokens_.push_back({pieces[i], in_source.begin, in_source.text.size(), is_same});
      }
    }
  }

  /// The compiler's column in the source. It has counted the bytes of the rewritten line, and shown them as so many of the source's.
  std::size_t column(std::size_t of_compiler) const {
    const Token* token = token_at(of_compiler);
    if (token == nullptr) return kNoColumn;
    return width_of(source_, token->in_source + (token->is_same ? byte_of(of_compiler) - token->piece.begin : 0)) + 1;
  }

  /// The same for the end of a mark: of what stands for another token, that one's end.
  std::size_t end_column(std::size_t of_compiler) const {
    const Token* token = token_at(of_compiler);
    return token != nullptr && !token->is_same ? last_column(of_compiler) : column(of_compiler);
  }

  /// The last column of the token there.
  std::size_t last_column(std::size_t of_compiler) const {
    const Token* token = token_at(of_compiler);
    return token == nullptr ? kNoColumn : width_of(source_, token->in_source + token->length);
  }

 private:
  struct Token {
    LineToken piece;        // of the rewritten line
    std::size_t in_source;  // where it begins there, or what stands in its place
    std::size_t length;     // there
    bool is_same;
  };

  std::size_t byte_of(std::size_t column) const {
    std::size_t bytes = 0;
    for (std::size_t width = wider(0, source_, 0); width < column; width = wider(width, source_, bytes)) ++bytes;
    return bytes;
  }

  const Token* token_at(std::size_t column) const {
    const std::size_t byte = byte_of(column);
    const Token* before = nullptr;  // a semicolon is missed where the token before it ends
    for (const Token& token : tokens_) {
      if (byte >= token.piece.begin && byte < token.piece.end()) return &token;
      if (byte == token.piece.end() && token.is_same) before = &token;
    }
    return before;
  }

  std::string source_;
  std::vector<Token> tokens_;
};

/// The lines that the compiler may show.
class ShownLines {
 public:
  explicit ShownLines(std::string_view rewritten) {
    std::string file;
    std::size_t number = 0;
    for (std::size_t at = 0; at < rewritten.size();) {
      const std::size_t end = std::min(rewritten.find('\n', at), rewritten.size());
      const std::string_view line = rewritten.substr(at, end - at);
      at = end + 1;
      if (!is_marker(line, file, number)) rewritten_[file][number++].push_back(line);
    }
  }

  bool know(const std::string& file) const { return rewritten_.count(file) != 0; }

  const ShownLine& line(const std::string& file, std::size_t number) {
    const auto [known, is_new] = lines_.try_emplace({file, number});
    if (is_new) known->second = ShownLine(source(file, number), rewritten_[file][number]);
    return known->second;
  }

 private:
  // `# 12 "a.cu" 2`
  static bool is_marker(std::string_view line, std::string& file, std::size_t& number) {
    const std::size_t open = line.find('"');
    if (!line.starts_with("# ") || open == std::string_view::npos) return false;
    if (std::from_chars(line.data() + 2, line.data() + open, number).ec != std::errc()) return false;
    file = line.substr(open + 1, line.rfind('"') - open - 1);
    return true;
  }

  std::string source(const std::string& file, std::size_t number) {
    const auto [known, is_new] = sources_.try_emplace(file);
    if (is_new) {
      std::ifstream stream(file);
      for (std::string line; std::getline(stream, line);) known->second.push_back(line);
    }
    return number >= 1 && number <= known->second.size() ? known->second[number - 1] : "";
  }

  std::unordered_map<std::string, std::unordered_map<std::size_t, std::vector<std::string_view>>> rewritten_;
  std::unordered_map<std::string, std::vector<std::string>> sources_;
  std::map<std::pair<std::string, std::size_t>, ShownLine> lines_;
};

/// "a.cu:2:31: error: ...".
struct SaidPlace {
  std::string file;
  std::size_t line = 0, column = kNoColumn;
};

bool number_at(std::string_view text, std::size_t& at, std::size_t& number) {
  const auto [end, error] = std::from_chars(text.data() + std::min(at, text.size()), text.data() + text.size(), number);
  at = static_cast<std::size_t>(end - text.data());
  return error == std::errc();
}

bool is_said_place(std::string_view text, SaidPlace& place) {
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
    std::size_t at = colon + 1;
    if (!number_at(text, at, place.line) || at >= text.size() || text[at] != ':') continue;
    ++at;
    if (!number_at(text, at, place.column) || at >= text.size() || text[at] != ':') continue;
    place.file = text.substr(0, colon);
    return true;
  }
  return false;
}

/// Something that the compiler writes below a line: "~~^~~", or a name that it would have there.
struct Mark {
  std::size_t begin;  // its column
  std::string text;
};

std::vector<Mark> marks_of(std::string_view below) {
  // A name may have a space in it, "const char [2]"; the next one stands further off.
  const std::string_view between = below.find_first_not_of(" ~^|") == std::string_view::npos ? " " : "  ";
  std::vector<Mark> marks;
  for (std::size_t at = below.find_first_not_of(' '); at < below.size(); at = below.find_first_not_of(' ', at)) {
    const std::size_t end = std::min(below.find(between, at), below.size());
    marks.push_back({at + 1, std::string(below.substr(at, end - at))});
    at = end;
  }
  return marks;
}

/// Where it is in the source; false where it has no place there.
bool move(Mark& mark, const ShownLine& line) {
  const std::size_t caret = mark.text.find('^');
  const bool underlines = mark.text.find_first_not_of("~^") == std::string::npos;
  const std::size_t at = line.column(mark.begin + (caret == std::string::npos ? 0 : caret));
  if (at == kNoColumn) return false;
  if (!underlines) {
    mark.begin = at;
    return true;
  }
  const std::size_t first = line.column(mark.begin);
  std::size_t last = line.end_column(mark.begin + mark.text.size() - 1);
  if (mark.text == "^") last = line.last_column(mark.begin);  // there was no room for more
  const std::size_t begin = first == kNoColumn ? at : std::min(first, at);
  mark.text.assign(std::max(last, at) - begin + 1, '~');
  if (caret != std::string::npos) mark.text[at - begin] = '^';
  mark.begin = begin;
  return true;
}

/// The colour that a line begins to have somewhere.
std::string_view first_colour(std::string_view line) {
  const std::size_t begin = line.find('\033');
  if (begin == std::string_view::npos) return {};
  std::size_t end = begin;
  while (line.substr(end, 2) == "\033[") end = std::min(line.find_first_of("mK", end), line.size() - 1) + 1;
  return line.substr(begin, end - begin);
}

/// What stands below a line of the source, in its columns. `bar`: where the marks begin.
std::string moved_marks(std::string_view raw, const std::string& plain, std::size_t bar, const ShownLine& line) {
  std::vector<Mark> marks = marks_of(std::string_view(plain).substr(bar));
  for (Mark& mark : marks)
    if (!move(mark, line)) return std::string(raw);
  const std::string_view colour = first_colour(raw);
  std::string text = plain.substr(0, bar);
  std::size_t column = 1;
  for (const Mark& mark : marks) {
    if (mark.begin < column) return std::string(raw);
    text.append(mark.begin - column, ' ');
    column = mark.begin + mark.text.size();
    text += colour.empty() ? mark.text : std::string(colour) + mark.text + "\033[m\033[K";
  }
  return text;
}

}  // namespace

std::string without_colours(std::string_view line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\033') {
      while (i < line.size() && std::isalpha(static_cast<unsigned char>(line[i])) == 0) ++i;
    } else {
      plain += line[i];
    }
  }
  return plain;
}

std::string in_columns_of_source(std::string_view messages, std::string_view rewritten) {
  ShownLines lines(rewritten);
  std::string out;
  SaidPlace place;        // of the running message
  std::size_t shown = 0;  // the line of the source above
  for (std::size_t at = 0; at < messages.size();) {
    const std::size_t end = std::min(messages.find('\n', at), messages.size());
    std::string raw(messages.substr(at, end - at));
    at = end + 1;
    const std::string plain = without_colours(raw);
    const std::size_t bar = plain.find(" | ");
    const bool in_margin = bar != std::string::npos && plain.find_first_not_of(" 0123456789") == bar + 1;
    if (in_margin && lines.know(place.file)) {
      std::size_t digits = plain.find_first_not_of(' ');
      if (digits < bar && number_at(plain, digits, shown))
        raw = plain;  // colours of what is marked below
      else
        raw = moved_marks(raw, plain, bar + 3, lines.line(place.file, shown));
    } else if (is_said_place(plain, place) && lines.know(place.file)) {
      const std::size_t column = lines.line(place.file, place.line).column(place.column);
      const std::string said = ":" + std::to_string(place.column) + ":";
      const std::size_t where = raw.find(":" + std::to_string(place.line) + said);
      if (column != kNoColumn && where != std::string::npos)
        raw.replace(raw.find(said, where + 1), said.size(), ":" + std::to_string(column) + ":");
    }
    out += raw + "\n";
  }
  return out;
}

}  // namespace tilewise::sim
