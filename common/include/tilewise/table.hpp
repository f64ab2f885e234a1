/// @file
/// Tables that appear row by row while the work goes on: column widths are fixed up front.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace tilewise {

enum class Status {
  ok,         ///< right
  wrong,      ///< a wrong result: no time is shown
  counted,    ///< run in part, and counted: nobody knows whether it is right, see sample_blocks()
  skip,       ///< cannot run here; the reason is said
  impossible  ///< right, but the figure is above what the machine can do: the measurement is wrong
};

/// "OK", "COUNTED", "WRONG", "SKIP", "IMPOSSIBLE".
const char* to_string(Status status);

/// A column: heading (two lines: title and unit), at least `width` characters wide.
struct Column {
  std::string title;
  std::string unit = {};
  std::size_t width = 0;
  bool left = false;  ///< text is aligned left, numbers right
};

/// Writes rows as they come. Colours only the status, only on a terminal, and never when NO_COLOR is set.
class Table {
 public:
  explicit Table(std::vector<Column> columns, std::FILE* out = stdout);

  /// Heading and rule; printed by the first row() if not before.
  void header();
  /// One cell per column, then the status and, after it, why.
  void row(const std::vector<std::string>& cells, Status status, const std::string& reason = "");
  /// On a terminal: says what is running, until the next row replaces it.
  void progress(const std::string& what);
  void rule();

  /// A row as text, without colour. For tests.
  std::string format(const std::vector<std::string>& cells, Status status, const std::string& reason = "") const;

 private:
  void clear_progress();

  std::vector<Column> columns_;
  std::FILE* out_;
  bool terminal_;
  bool colour_;
  bool header_done_ = false;
  bool progress_shown_ = false;
};

/// 4096 -> "4,096".
std::string with_commas(std::uint64_t value);
/// Fixed decimals: fixed(1.5, 2) -> "1.50"; "-" for values that are not finite.
std::string fixed(double value, int decimals);
/// Three significant digits, but no less than the whole number: "0.0312", "15.6", "6,712".
std::string significant(double value);
/// "4.24 ms", "3.10 us".
std::string time_text(double seconds);
/// "1.2e-06".
std::string scientific(double value);
/// 49152 -> "48 KB"; 1536 -> "1.5 KB"; 512 -> "512 B".
std::string bytes_text(double bytes);

}  // namespace tilewise
