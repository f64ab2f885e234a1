// Matrix Market files: https://math.nist.gov/MatrixMarket/formats.html
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "parallel.hpp"
#include "tilewise/csr.hpp"
#include "tilewise/table.hpp"

namespace tilewise {

MatrixMarketError::MatrixMarketError(const std::string& file, std::size_t line, const std::string& reason)
    : std::runtime_error(line > 0 ? fmt::format("{}:{}: {}", file, line, reason) : fmt::format("{}: {}", file, reason)),
      line_(line) {}

namespace {

enum class Field { real, integer, pattern };
enum class Symmetry { general, symmetric, skew };

// What a message shows of a word: its begin, without bytes that a terminal would obey.
std::string shown(std::string_view word) {
  std::string text;
  for (const char c : word.substr(0, 40)) text += std::isprint(static_cast<unsigned char>(c)) ? c : '?';
  return text + (word.size() > 40 ? "..." : "");
}

// std::from_chars for float and double. Not every C++20 library has it (libc++ got it with LLVM 20).
template <class T>
std::from_chars_result number_from_chars(const char* begin, const char* end, T& value) {
#if defined(__cpp_lib_to_chars)
  return std::from_chars(begin, end, value);
#else
  const std::string text(begin, std::find_if(begin, end, [](char c) { return c == ' ' || c == '\t' || c == '\r'; }));
  char* stop = nullptr;
  const double number = std::strtod(text.c_str(), &stop);
  const char* after = begin + (stop - text.c_str());
  if (after == begin || text[0] == '+' || text.find_first_of("xX") != std::string::npos)
    return {begin, std::errc::invalid_argument};
  value = static_cast<T>(number);
  const bool finite = text.find_first_of("iInN") == std::string::npos;
  if (finite && (std::isinf(value) || (value == 0 && text.find_first_of("123456789") < text.find_first_of("eE"))))
    return {after, std::errc::result_out_of_range};
  return {after, std::errc()};
#endif
}

template <class T>
class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : at_(text.data()), end_(at_ + text.size()), name_(name) {}

  Csr<T> read() {
    header();
    sizes();
    entries();
    return assemble();
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const { throw MatrixMarketError(name_, line_, reason); }

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  // Goes to the next line; false at the end of the text. word() then gives its words.
  bool next_line() {
    if (at_ == end_) return false;
    ++line_;
    here_ = at_;
    line_end_ = std::find(at_, end_, '\n');
    at_ = line_end_ == end_ ? end_ : line_end_ + 1;
    return true;
  }

  // The same, past lines without a word.
  bool next_filled_line() {
    while (next_line())
      if (!skip_space()) return true;
    return false;
  }

  // True at the end of the line.
  bool skip_space() {
    while (here_ != line_end_ && is_space(*here_)) ++here_;
    return here_ == line_end_;
  }

  std::string_view word() {
    skip_space();
    const char* begin = here_;
    while (here_ != line_end_ && !is_space(*here_)) ++here_;
    return {begin, static_cast<std::size_t>(here_ - begin)};
  }

  std::string lower_word() {
    std::string text(word());
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  }

  void expect_end_of_line(const char* after) {
    if (!skip_space()) fail(fmt::format("'{}' after {}", shown(word()), after));
  }

  void header() {
    if (!next_line()) fail("the file is empty");
    const std::string_view banner = word();
    if (banner != "%%MatrixMarket") fail(fmt::format("begins with '{}', not with '%%MatrixMarket'", shown(banner)));
    if (const std::string object = lower_word(); object != "matrix")
      fail(fmt::format("object '{}'; only 'matrix' can be read", shown(object)));
    if (const std::string format = lower_word(); format != "coordinate")
      fail(fmt::format("format '{}'; only 'coordinate' can be read", shown(format)));
    const std::string field = lower_word();
    if (field == "real")
      field_ = Field::real;
    else if (field == "integer")
      field_ = Field::integer;
    else if (field == "pattern")
      field_ = Field::pattern;
    else
      fail(fmt::format("field '{}'; only 'real', 'integer' and 'pattern' can be read", shown(field)));
    const std::string symmetry = lower_word();
    if (symmetry == "general")
      symmetry_ = Symmetry::general;
    else if (symmetry == "symmetric")
      symmetry_ = Symmetry::symmetric;
    else if (symmetry == "skew-symmetric")
      symmetry_ = Symmetry::skew;
    else
      fail(fmt::format("symmetry '{}'; only 'general', 'symmetric' and 'skew-symmetric' can be read", shown(symmetry)));
    if (symmetry_ == Symmetry::skew && field_ == Field::pattern) fail("a skew-symmetric pattern has no signs");
    expect_end_of_line("the header");
  }

  std::int64_t size(const char* what, std::int64_t most) {
    const std::string_view text = word();
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty()) fail(fmt::format("the number of {} is missing", what));
    if (error == std::errc::invalid_argument || stop != text.data() + text.size() || text[0] == '-')
      fail(fmt::format("'{}' is no number of {}", shown(text), what));
    if (error == std::errc::result_out_of_range || value > most)
      fail(fmt::format("{} {}: more than {}, which 32-bit positions can hold", shown(text), what, with_commas(most)));
    return value;
  }

  void sizes() {
    do {
      if (!next_filled_line()) fail("the line with rows, columns and entries is missing");
    } while (*here_ == '%');
    rows_ = size("rows", kMostRows);
    cols_ = size("columns", kMostRows);
    declared_ = size("entries", kMostEntries);
    expect_end_of_line("rows, columns and entries");
    if (symmetry_ != Symmetry::general && rows_ != cols_)
      fail(fmt::format("{} x {} cannot be symmetric", with_commas(rows_), with_commas(cols_)));
    if (declared_ > 0 && (rows_ == 0 || cols_ == 0)) fail("entries in a matrix without places");
  }

  std::int32_t index(const char* what, std::int64_t limit) {
    skip_space();
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(here_, line_end_, value);
    if (error == std::errc::invalid_argument || (stop != line_end_ && !is_space(*stop))) {
      const std::string_view text = word();
      if (text.empty()) fail(fmt::format("the {} is missing", what));
      fail(fmt::format("'{}' is no {}", shown(text), what));
    }
    if (error == std::errc::result_out_of_range || value < 1 || value > limit)
      fail(fmt::format("{} {} is outside 1..{}", what, shown(word()), limit));
    here_ = stop;
    return static_cast<std::int32_t>(value - 1);
  }

  T value() {
    if (field_ == Field::pattern) return T(1);
    if (skip_space()) fail("the value is missing");
    const char* begin = here_ + (*here_ == '+' && here_ + 1 != line_end_ && here_[1] != '-');
    if (field_ == Field::integer) {
      std::int64_t number = 0;
      const auto [stop, error] = std::from_chars(begin, line_end_, number);
      if (error == std::errc::result_out_of_range) fail(fmt::format("{} is out of range", shown(word())));
      if (error != std::errc() || (stop != line_end_ && !is_space(*stop)))
        fail(fmt::format("'{}' is no integer", shown(word())));
      here_ = stop;
      return static_cast<T>(number);
    }
    T number = 0;
    const auto [stop, error] = number_from_chars(begin, line_end_, number);
    if (stop != line_end_ && !is_space(*stop)) fail(fmt::format("'{}' is no number", shown(word())));
    if (error == std::errc::invalid_argument) fail(fmt::format("'{}' is no number", shown(word())));
    if (error == std::errc::result_out_of_range) {
      // Too large or too small: from_chars does not say which. What is too small is rounded, to 0 or nearly so.
      const std::string text(begin, stop);
      number = sizeof(T) == 4 ? static_cast<T>(std::strtof(text.c_str(), nullptr))
                              : static_cast<T>(std::strtod(text.c_str(), nullptr));
      if (std::abs(number) > 1) fail(fmt::format("{} is out of range", shown(word())));
    } else if (!std::isfinite(number)) {
      fail(fmt::format("'{}' is not a finite number", shown(word())));
    }
    here_ = stop;
    return number;
  }

  void add(std::int32_t row, std::int32_t col, T value) {
    row_.push_back(row);
    col_.push_back(col);
    value_.push_back(value);
  }

  void entries() {
    // No more memory than the file can need: a line has four characters at least, and may stand for two entries.
    const std::int64_t possible = std::min<std::int64_t>(declared_, (end_ - at_) / 4 + 1);
    const auto expected = static_cast<std::size_t>(symmetry_ == Symmetry::general ? possible : 2 * possible);
    row_.reserve(expected);
    col_.reserve(expected);
    value_.reserve(expected);
    std::int64_t found = 0;
    while (next_filled_line()) {
      if (*here_ == '%') fail("a comment between entries");
      if (found == declared_) fail(fmt::format("more entries than the {} of the size line", with_commas(declared_)));
      ++found;
      const std::int32_t row = index("row", rows_), col = index("column", cols_);
      const T number = value();
      if (here_ != line_end_) expect_end_of_line("the entry");
      add(row, col, number);
      if (symmetry_ == Symmetry::general) continue;
      if (row < col) fail("an entry above the diagonal of a symmetric matrix, whose lower half is all that is stored");
      if (row == col && symmetry_ == Symmetry::skew) fail("an entry on the diagonal of a skew-symmetric matrix");
      if (row != col) add(col, row, symmetry_ == Symmetry::skew ? -number : number);
      if (static_cast<std::int64_t>(row_.size()) > kMostEntries)
        fail(fmt::format("more than {} entries with both halves: positions are 32-bit", with_commas(kMostEntries)));
    }
    if (found < declared_) {
      line_ = 0;
      fail(fmt::format("ends after {} entries; the size line says {}", with_commas(found), with_commas(declared_)));
    }
  }

  // By rows, in the order of the file; then each row by columns, entries for the same place summed.
  Csr<T> assemble() {
    Csr<T> m;
    m.rows = static_cast<std::int32_t>(rows_);
    m.cols = static_cast<std::int32_t>(cols_);
    std::vector<std::int32_t> at(static_cast<std::size_t>(rows_) + 1);
    for (const std::int32_t row : row_) ++at[static_cast<std::size_t>(row) + 1];
    std::partial_sum(at.begin(), at.end(), at.begin());
    m.row_ptr = at;
    m.col_index.resize(row_.size());
    m.values.resize(row_.size());
    for (std::size_t e = 0; e < row_.size(); ++e) {
      const auto to = static_cast<std::size_t>(at[static_cast<std::size_t>(row_[e])]++);
      m.col_index[to] = col_[e];
      m.values[to] = value_[e];
    }
    row_ = {};
    col_ = {};
    value_ = {};
    std::vector<std::pair<std::int32_t, T>> line;
    std::int32_t kept = 0;
    for (std::size_t row = 0; row < static_cast<std::size_t>(m.rows); ++row) {
      const auto first = static_cast<std::size_t>(m.row_ptr[row]), last = static_cast<std::size_t>(m.row_ptr[row + 1]);
      m.row_ptr[row] = kept;
      bool sorted = true;
      for (std::size_t e = first + 1; e < last; ++e) sorted = sorted && m.col_index[e - 1] < m.col_index[e];
      if (!sorted) {
        line.clear();
        for (std::size_t e = first; e < last; ++e) line.emplace_back(m.col_index[e], m.values[e]);
        std::stable_sort(line.begin(), line.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (std::size_t e = first; e < last; ++e) std::tie(m.col_index[e], m.values[e]) = line[e - first];
      }
      for (std::size_t e = first; e < last; ++e) {
        if (e > first && m.col_index[e] == m.col_index[kept - 1]) {
          m.values[kept - 1] += m.values[e];
        } else {
          m.col_index[kept] = m.col_index[e];
          m.values[kept++] = m.values[e];
        }
      }
    }
    m.row_ptr.back() = kept;
    m.col_index.resize(static_cast<std::size_t>(kept));
    m.values.resize(static_cast<std::size_t>(kept));
    return m;
  }

  const char* at_;   // the next line
  const char* end_;  // of the text
  const char* here_ = nullptr;
  const char* line_end_ = nullptr;
  const std::string& name_;
  std::size_t line_ = 0;
  Field field_ = Field::real;
  Symmetry symmetry_ = Symmetry::general;
  std::int64_t rows_ = 0, cols_ = 0, declared_ = 0;
  std::vector<std::int32_t> row_, col_;
  std::vector<T> value_;
};

}  // namespace

template <class T>
Csr<T> parse_matrix_market(std::string_view text, const std::string& name) {
  return Reader<T>(text, name).read();
}

template <class T>
Csr<T> read_matrix_market(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) throw MatrixMarketError(path, 0, "is a folder");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) throw MatrixMarketError(path, 0, std::generic_category().message(errno));
  std::string text;
  const auto size = std::filesystem::file_size(path, error);
  std::size_t used = 0;
  text.resize(error ? 0 : static_cast<std::size_t>(size) + 1);  // one more: the end is seen without growing
  for (;;) {  // files whose size is not known, pipes for example, come in pieces
    if (used == text.size()) text.resize(std::max<std::size_t>(1 << 16, used + used / 2 + 1));
    const std::size_t got = std::fread(text.data() + used, 1, text.size() - used, file.get());
    if (got == 0) break;
    used += got;
  }
  if (std::ferror(file.get())) throw MatrixMarketError(path, 0, "cannot be read");
  return parse_matrix_market<T>(std::string_view(text).substr(0, used), path);
}

template <class T>
std::string matrix_market_text(const Csr<T>& m) {
  fmt::memory_buffer out;
  fmt::format_to(std::back_inserter(out), "%%MatrixMarket matrix coordinate real general\n{} {} {}\n", m.rows, m.cols,
                 m.nnz());
  for (std::size_t row = 0; row < static_cast<std::size_t>(m.rows); ++row)
    for (std::int32_t e = m.row_ptr[row]; e < m.row_ptr[row + 1]; ++e)
      fmt::format_to(std::back_inserter(out), "{} {} {}\n", row + 1, std::int64_t{m.col_index[e]} + 1, m.values[e]);
  return fmt::to_string(out);
}

#define TILEWISE_FOR(T)                                                      \
  template Csr<T> parse_matrix_market(std::string_view, const std::string&); \
  template Csr<T> read_matrix_market(const std::string&);                    \
  template std::string matrix_market_text(const Csr<T>&);
TILEWISE_FOR(float)
TILEWISE_FOR(double)

}  // namespace tilewise
