/// @file
/// A run written as JSON: what, where, when, and every row.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tilewise/table.hpp"

namespace tilewise {

class Options;

/// One JSON object under construction. A dot in a key makes an inner object: "time.median_ms".
class Record {
 public:
  using Value = std::variant<bool, std::int64_t, double, std::string>;

  Record& set(const std::string& key, bool value) { return put(key, value); }
  template <std::integral T>
  Record& set(const std::string& key, T value) {
    return put(key, static_cast<std::int64_t>(value));
  }
  Record& set(const std::string& key, double value) { return put(key, value); }
  Record& set(const std::string& key, const std::string& value) { return put(key, value); }
  Record& set(const std::string& key, const char* value) { return put(key, std::string(value)); }

  /// Adds all fields of another record.
  Record& add(const Record& more) {
    fields_.insert(fields_.end(), more.fields_.begin(), more.fields_.end());
    return *this;
  }

  const std::vector<std::pair<std::string, Value>>& fields() const { return fields_; }
  /// What was set last at `key`, if anything.
  std::optional<Value> at(const std::string& key) const;

 private:
  Record& put(const std::string& key, Value value) {
    fields_.emplace_back(key, std::move(value));
    return *this;
  }
  std::vector<std::pair<std::string, Value>> fields_;
};

/// How a column's values are written: see columns.inc.
enum class Written { whole, tenths, hundredths, digits, percent, times, error, least, text };

/// A column of tables of results: what it is called, where a row has it, and how it is written. columns.inc lists them.
struct KnownColumn {
  std::string name;      ///< "sectors_per_load"
  std::string words;     ///< on pages: "sectors per load"
  std::string heading;   ///< on the screen: "sectors"
  std::string unit;      ///< below it: "/request"
  std::size_t width;     ///< on the screen, in characters
  std::string of;        ///< "counts.global_load_sectors"
  std::string per = {};  ///< what it is divided by: "counts.global_load_requests", "4"; "": nothing
  Written as = Written::whole;
};

/// All of columns.inc.
const std::vector<KnownColumn>& known_columns();
/// The one of that name. Throws std::invalid_argument when there is none.
const KnownColumn& known_column(const std::string& name);
/// The same for a Table: text aligned left, numbers right.
Column on_screen(const KnownColumn& column);
/// A row beside its baseline: as a share in per cent, or as a speed-up.
KnownColumn speedup_column(const std::string& baseline, bool share);

/// What a row has at a place such as "time.median_ms", if anything.
using RowReader = std::function<std::optional<Record::Value>(const std::string& place)>;
/// A row's value in a column, as text; `none` where it has none, or would be divided by zero.
std::string written(const KnownColumn& column, const RowReader& row, const std::string& none = "-");
std::string written(const KnownColumn& column, const Record& row, const std::string& none = "-");

struct Counts;
struct LeastTime;

/// Sets counts.NAME for what was counted, and what set_bound() sets.
void set_counts(Record& row, const Counts& counts);
/// Sets bound.device, bound.seconds, bound.by and bound.all.PART: of `time`, if anything is known.
void set_bound(Record& row, const LeastTime& time);

/// Collects the rows of a run and writes them with a description of machine, software and options.
class Results {
 public:
  explicit Results(const Options& options);

  /// Adds a row; returns its number.
  std::size_t add(const Record& row) {
    rows_.push_back(row);
    return rows_.size() - 1;
  }
  /// Says of a table what its heading is, and which quantity it is about. `part`: its rows' name of it, "" if there is one table.
  void describe_table(const std::string& part, const std::string& title, const std::string& quantity);
  /// Adds fields to row number `row`. Throws std::out_of_range when there is none.
  void extend(std::size_t row, const Record& fields) { rows_.at(row).add(fields); }
  /// The whole file as text. Numbers that are not finite become null.
  std::string json() const;
  /// Writes to a temporary file beside `path`, then renames: a reader never sees half a file.
  void write(const std::string& path) const;

 private:
  Record run_;
  std::vector<Record> rows_;
};

}  // namespace tilewise
