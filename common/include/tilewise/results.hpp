/// @file
/// A run written as JSON: what, where, when, and every row.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

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

 private:
  Record& put(const std::string& key, Value value) {
    fields_.emplace_back(key, std::move(value));
    return *this;
  }
  std::vector<std::pair<std::string, Value>> fields_;
};

struct LeastTime;

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
