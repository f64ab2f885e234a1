// The columns of results: what a row says in one, and that those which tables ask for are there.
#include <limits>
#include <set>

#include "catch.hpp"
#include "tilewise/counters.hpp"
#include "tilewise/results.hpp"

using tilewise::known_column;
using tilewise::KnownColumn;
using tilewise::Record;
using tilewise::written;

TEST_CASE("a row's value is written as its column says", "[columns]") {
  Record row;
  row.set("counts.global_load_requests", 1024).set("counts.global_load_sectors", 4100);
  row.set("time.median_ms", 0.04567).set("time.iqr_ms", 0.0004567).set("figure.value", 1234.5);
  row.set("figure.share_of_peak", 0.995).set("error.max", 1.23e-6).set("figure.unit", "GB/s");
  row.set("bound.seconds", 4.24e-6).set("bound.by", "L1 data").set("speedup.best_copy", 0.987);
  CHECK(written(known_column("load_requests"), row) == "1,024");
  CHECK(written(known_column("sectors_per_load"), row) == "4.00");
  CHECK(written(known_column("time"), row) == "0.0457");
  CHECK(written(known_column("iqr"), row) == "1.0");
  CHECK(written(known_column("gbs"), row) == "1,235");
  CHECK(written(known_column("of_peak"), row) == "99.5");
  CHECK(written(known_column("error"), row) == "1.2e-06");
  CHECK(written(known_column("rate_unit"), row) == "GB/s");
  CHECK(written(known_column("at_least"), row) == "4.24 us L1 data");
  CHECK(written(tilewise::speedup_column("copy", true), row) == "98.7");
  CHECK(written(tilewise::speedup_column("copy", false), row) == "0.99x");
}

TEST_CASE("a number may divide a column, too: bytes are counted in words", "[columns]") {
  Record row;
  row.set("counts.global_load_bytes", 4096);
  CHECK(written(known_column("loads_counted"), row) == "1,024");
}

TEST_CASE("what a row has not, or would be divided by zero, is a dash or what is asked for", "[columns]") {
  Record row;
  CHECK(written(known_column("load_requests"), row) == "-");
  row.set("counts.global_load_sectors", 8);
  CHECK(written(known_column("sectors_per_load"), row) == "-");
  row.set("counts.global_load_requests", 0);
  CHECK(written(known_column("sectors_per_load"), row) == "-");
  CHECK(written(known_column("sectors_per_load"), row, "") == "");
  row.set("time.median_ms", std::numeric_limits<double>::quiet_NaN());
  CHECK(written(known_column("time"), row) == "-");
}

TEST_CASE("what was set last is what a row has", "[columns]") {
  Record row;
  row.set("tile", 8).set("tile", 16);
  CHECK(std::get<std::int64_t>(row.at("tile").value()) == 16);
  CHECK_FALSE(row.at("shape").has_value());
}

TEST_CASE("columns have names of their own, and an unknown one is an error that names it", "[columns]") {
  std::set<std::string> names;
  for (const KnownColumn& column : tilewise::known_columns()) CHECK(names.insert(column.name).second);
  CHECK_THROWS_WITH(known_column("nope"), "columns.inc has no column nope");
}

TEST_CASE("every count that a column divides or shows is among those that rows have", "[columns]") {
  Record row;
  tilewise::set_counts(row, tilewise::Counts());
  for (const KnownColumn& column : tilewise::known_columns())
    for (const std::string& place : {column.of, column.per}) {
      INFO(column.name << " " << place);
      CHECK((!place.starts_with("counts.") || row.at(place).has_value()));
    }
}
