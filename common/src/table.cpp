#include "tilewise/table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

namespace tilewise {
namespace {

constexpr std::size_t kStatusWidth = 6;
constexpr const char* kGap = "  ";

const char* colour_of(Status status) {
  switch (status) {
    case Status::ok:
      return "\033[32m";
    case Status::counted:
    case Status::skip:
      return "\033[33m";
    default:
      return "\033[31m";
  }
}

std::string aligned(const std::string& text, std::size_t width, bool left) {
  return left ? fmt::format("{:<{}}", text, width) : fmt::format("{:>{}}", text, width);
}

}  // namespace

const char* to_string(Status status) {
  switch (status) {
    case Status::ok:
      return "OK";
    case Status::counted:
      return "COUNTED";
    case Status::wrong:
      return "WRONG";
    case Status::skip:
      return "SKIP";
    case Status::impossible:
      return "IMPOSSIBLE";
  }
  return "?";
}

Table::Table(std::vector<Column> columns, std::FILE* out) : columns_(std::move(columns)), out_(out) {
  for (Column& column : columns_) column.width = std::max({column.width, column.title.size(), column.unit.size()});
  terminal_ = isatty(fileno(out)) != 0;
  const char* no_colour = std::getenv("NO_COLOR");
  colour_ = terminal_ && !(no_colour && *no_colour);
}

void Table::header() {
  header_done_ = true;
  clear_progress();
  std::string titles, units;
  for (const Column& column : columns_) {
    titles += aligned(column.title, column.width, column.left) + kGap;
    units += aligned(column.unit, column.width, column.left) + kGap;
  }
  while (!units.empty() && units.back() == ' ') units.pop_back();
  fmt::print(out_, "{}status\n", titles);
  if (!units.empty()) fmt::print(out_, "{}\n", units);
  rule();
}

void Table::rule() {
  clear_progress();
  std::size_t width = kStatusWidth;
  for (const Column& column : columns_) width += column.width + std::char_traits<char>::length(kGap);
  fmt::print(out_, "{}\n", std::string(width, '-'));
  std::fflush(out_);
}

std::string Table::format(const std::vector<std::string>& cells, Status status, const std::string& reason) const {
  std::string line;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    line += aligned(i < cells.size() ? cells[i] : "", columns_[i].width, columns_[i].left) + kGap;
  line += to_string(status);
  if (!reason.empty()) line += ": " + reason;
  return line;
}

void Table::row(const std::vector<std::string>& cells, Status status, const std::string& reason) {
  if (!header_done_) header();
  clear_progress();
  std::string line = format(cells, status, reason);
  if (colour_) {
    const std::string word = to_string(status);
    const std::size_t at = line.size() - word.size() - (reason.empty() ? 0 : reason.size() + 2);
    line = line.substr(0, at) + colour_of(status) + word + "\033[0m" + line.substr(at + word.size());
  }
  fmt::print(out_, "{}\n", line);
  std::fflush(out_);
}

void Table::progress(const std::string& what) {
  if (!terminal_) return;
  if (!header_done_) header();
  clear_progress();
  fmt::print(out_, "{} ...", what);
  std::fflush(out_);
  progress_shown_ = true;
}

void Table::clear_progress() {
  if (progress_shown_) fmt::print(out_, "\r\033[K");
  progress_shown_ = false;
}

std::string with_commas(std::uint64_t value) { return fmt::format("{}", fmt::group_digits(value)); }

std::string fixed(double value, int decimals) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : "-";
}

std::string significant(double value) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size < 1e-4 || size >= 1e9) return fmt::format("{:.2e}", value);
  if (size >= 999.5) return (value < 0 ? "-" : "") + with_commas(static_cast<std::uint64_t>(std::llround(size)));
  // Decimals that leave three digits; rounding may add a digit (9.996 -> 10.0).
  const int digits_before = static_cast<int>(std::floor(std::log10(size))) + 1;
  const double rounded = std::stod(fmt::format("{:.{}f}", size, std::max(0, 3 - digits_before)));
  const int after = rounded >= std::pow(10.0, digits_before) ? digits_before + 1 : digits_before;
  return fmt::format("{:.{}f}", value, std::max(0, 3 - after));
}

std::string time_text(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  const char* units[] = {" ns", " us", " ms", " s"};
  double value = seconds * 1e9;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < std::size(units); ++unit) value /= 1000;
  return significant(value) + units[unit];
}

std::string scientific(double value) {
  return std::isfinite(value) ? fmt::format("{:.1e}", value) : fmt::format("{}", value);
}

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  std::string number = fmt::format("{:.1f}", bytes);
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return number + " " + kUnits[unit];
}

}  // namespace tilewise
