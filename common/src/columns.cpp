#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "tilewise/results.hpp"

namespace tilewise {
namespace {

/// A number, from a row or as it stands in columns.inc. Text is none.
std::optional<double> number_at(const std::string& place, const RowReader& row) {
  double constant = 0;
  if (std::from_chars(place.data(), place.data() + place.size(), constant).ec == std::errc()) return constant;
  const std::optional<Record::Value> value = row(place);
  if (!value || std::holds_alternative<std::string>(*value)) return std::nullopt;
  return std::visit(
      [](const auto& v) -> double {
        if constexpr (std::is_convertible_v<decltype(v), double>) return static_cast<double>(v);
        return 0;
      },
      *value);
}

std::string text_at(const std::string& place, const RowReader& row) {
  const std::optional<Record::Value> value = row(place);
  if (!value) return "";
  if (const auto* text = std::get_if<std::string>(&*value)) return *text;
  if (const auto* yes = std::get_if<bool>(&*value)) return *yes ? "yes" : "no";
  if (const auto* count = std::get_if<std::int64_t>(&*value)) return with_commas(static_cast<std::uint64_t>(*count));
  return significant(*number_at(place, row));
}

std::string number_text(double value, Written as) {
  switch (as) {
    case Written::whole:
      return with_commas(static_cast<std::uint64_t>(value));
    case Written::tenths:
      return fixed(value, 1);
    case Written::hundredths:
      return fixed(value, 2);
    case Written::percent:
      return fixed(100 * value, 1);
    case Written::times:
      return fixed(value, 2) + "x";
    case Written::error:
      return scientific(value);
    case Written::least:
      return time_text(value);
    default:
      return significant(value);
  }
}

}  // namespace

std::optional<Record::Value> Record::at(const std::string& key) const {
  const auto found =
      std::find_if(fields_.rbegin(), fields_.rend(), [&](const auto& field) { return field.first == key; });
  return found == fields_.rend() ? std::nullopt : std::optional(found->second);
}

const std::vector<KnownColumn>& known_columns() {
  static const std::vector<KnownColumn> all = {
#define TILEWISE_COLUMN(name, words, heading, unit, width, of, per, as) \
  {#name, words, heading, unit, width, of, per, Written::as},
#include "tilewise/columns.inc"
#undef TILEWISE_COLUMN
  };
  return all;
}

const KnownColumn& known_column(const std::string& name) {
  const std::vector<KnownColumn>& all = known_columns();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const KnownColumn& column) { return column.name == name; });
  if (found == all.end()) throw std::invalid_argument("columns.inc has no column " + name);
  return *found;
}

Column on_screen(const KnownColumn& column) {
  return {column.heading, column.unit, column.width, column.as == Written::least || column.as == Written::text};
}

KnownColumn speedup_column(const std::string& baseline, bool share) {
  const std::string place = "speedup.best_" + baseline;
  return share ? KnownColumn{"of_best", "of " + baseline, "of " + baseline, "%", 7, place, "", Written::percent}
               : KnownColumn{"of_best", "best " + baseline, "vs best", baseline, 7, place, "", Written::times};
}

std::string written(const KnownColumn& column, const RowReader& row, const std::string& none) {
  if (column.as == Written::text) {
    const std::string text = text_at(column.of, row);
    return text.empty() ? none : text;
  }
  const std::optional<double> value = number_at(column.of, row);
  const std::optional<double> divisor = column.per.empty() ? 1 : number_at(column.per, row);
  if (!value || !divisor || *divisor == 0 || !std::isfinite(*value)) return none;
  const std::string text = number_text(*value / *divisor, column.as);
  return column.as == Written::least ? text + " " + text_at("bound.by", row) : text;
}

std::string written(const KnownColumn& column, const Record& row, const std::string& none) {
  return written(
      column, [&](const std::string& place) { return row.at(place); }, none);
}

}  // namespace tilewise
