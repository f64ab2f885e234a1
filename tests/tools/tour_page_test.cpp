// The page of `make tour`: which quantity a chart shows, what vanishes, and what is said of a result.
#include "../../common/tools/tour_page.hpp"

#include "../catch.hpp"

namespace {

using tour::Json;

Json counted_row(const char* kernel, int requests, int wavefronts) {
  Json row = {{"part", "walk"}, {"kernel", kernel}, {"shape", "128 x 96"}, {"status", "OK"}};
  row["counts"] = {{"global_load_requests", requests},    {"global_load_sectors", 4 * requests},
                   {"global_load_bytes", 128 * requests}, {"global_store_requests", 0},
                   {"global_store_sectors", 0},           {"global_store_bytes", 0},
                   {"shared_wavefronts", wavefronts},     {"shared_conflicts", 0}};
  tour::derive(row);
  return row;
}

Json timed_row(const char* kernel, double ms) {
  return {{"part", "walk"},
          {"kernel", kernel},
          {"shape", "128 x 96"},
          {"status", "OK"},
          {"time", {{"median_ms", ms}}},
          {"figure", {{"value", 100 / ms}, {"unit", "GB/s"}}}};
}

Json run_of(const Json& rows, const char* machine) {
  return {{"program", "03_padded_tiles"},
          {"machine", {{"name", machine}, {"peak_fp32_gflops", 100.0}, {"peak_bandwidth_gbs", 50.0}}},
          {"rows", rows}};
}

/// Only the records that the test makes: there is no file of such a machine.
tour::Recorded recorded(const Json& run, bool judged = true) {
  tour::Recorded r(Json{{"name", "none"}, {"simulated", true}});
  r.own = r.gpu = Json{{"runs", Json::array({run})}};
  r.judged = judged;
  return r;
}

std::size_t times(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++n;
  return n;
}

}  // namespace

TEST_CASE("a chart shows what the table is about", "[tour]") {
  const Json rows = {counted_row("plain", 384, 12672), counted_row("padded", 384, 768)};
  const std::string wavefronts = tour::chart(rows, tour::measure_of(rows, "wavefronts"));
  CHECK(times(wavefronts, "class=\"bar\"") == 2);
  CHECK(wavefronts.find("12,672") != std::string::npos);
  CHECK(wavefronts.find("--share:0.0606") != std::string::npos);  // 768 / 12672
  CHECK(tour::measure_of(rows, "time").key.empty());
  CHECK(tour::measure_of(Json::array({timed_row("plain", 1)}), "wavefronts").key ==
        "figure.value");  // what was measured comes first
}

TEST_CASE("a chart of one value vanishes", "[tour]") {
  const Json rows = {counted_row("plain", 384, 12672), counted_row("padded", 384, 768)};
  CHECK(tour::chart(rows, tour::measure_of(rows, "requests")).empty());
  CHECK(tour::chart(Json::array({rows[0]}), tour::measure_of(rows, "wavefronts")).empty());
  CHECK(tour::chart(rows, tour::measure_of(rows, "time")).empty());
}

TEST_CASE("a column of one value becomes a line above the table", "[tour]") {
  const Json rows = {counted_row("plain", 384, 12672), counted_row("padded", 384, 768)};
  const std::string table = tour::table(rows);
  CHECK(table.find("The same in every row: shape 128 x 96; load requests 384") != std::string::npos);
  CHECK(times(table, "384") == 1);
  CHECK(times(table, "<th ") == 2);  // the kernel, and its wavefronts
  CHECK(table.find("status") == std::string::npos);
}

TEST_CASE("a skipped row's reason has the rest of its row", "[tour]") {
  Json skipped = {{"part", "walk"},
                  {"kernel", "wide"},
                  {"shape", "101 x 83"},
                  {"status", "SKIP"},
                  {"reason", "needs columns that are a multiple of 4"}};
  const std::string table = tour::table({counted_row("plain", 384, 12672), counted_row("padded", 200, 768), skipped});
  const std::size_t columns = times(table, "<th ");
  CHECK(table.find("colspan=\"" + std::to_string(columns - 2) + "\"><em>SKIP</em> needs columns") != std::string::npos);
}

TEST_CASE("is my result normal", "[tour]") {
  const auto said = [](const Json& here, const Json& before, bool judged = true) {
    const auto [kind, sentence] =
        tour::verdict(here, run_of(here, "Some GPU"), recorded(run_of(before, "NVIDIA H200"), judged));
    return std::string(kind) + ": " + sentence;
  };
  const Json counted = {counted_row("plain", 384, 12672), counted_row("padded", 384, 768)};
  const Json other = {counted_row("plain", 384, 12672), counted_row("padded", 384, 769)};
  CHECK(said(counted, counted).rfind("yes: Yes", 0) == 0);
  CHECK(said(counted, other).rfind("no: No: 1 of 2 rows", 0) == 0);
  CHECK(said(counted, Json::array()).rfind("open: All that ran is right", 0) == 0);

  const Json before = {timed_row("plain", 1.0), timed_row("padded", 0.5)};
  CHECK(said({timed_row("plain", 1.05), timed_row("padded", 0.5)}, before).rfind("yes: Yes: none of 2 rows", 0) == 0);
  CHECK(said({timed_row("plain", 1.3), timed_row("padded", 0.5)}, before)
            .rfind("no: Not all: 1 of 2 rows is more than 10 % slower", 0) == 0);
  CHECK(said({timed_row("plain", 2.0), timed_row("padded", 1.0)}, before, false)
            .rfind("open: Nothing is recorded for your GPU. Here it's 0.5 times", 0) == 0);

  Json wrong = counted;
  wrong[1]["status"] = "WRONG";
  CHECK(said(wrong, counted) == "no: No: 1 of 2 rows is wrong.");
}

TEST_CASE("a lesson's first paragraph without its Markdown", "[tour]") {
  CHECK(tour::from_markdown("One [swap](x.md#y) of `a<b>` takes <!-- derived: one per lane -->32 passes<!-- /derived "
                            "-->, *not* **one**.") == "One swap of <code>a&lt;b&gt;</code> takes 32 passes, not one.");
}
