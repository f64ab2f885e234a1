// What is counted of a report: the better of the two ways, as written and as compiled.
#include "counts.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.hpp"

using namespace tilewise::grader;
using Json = nlohmann::ordered_json;

namespace {

/// A launch of one block with these lines, of which each warp stores `stores` times.
Json report_of(const std::string& lines, int store_requests = 0, int store_sectors = 0) {
  Json launch = {{"grid", {1, 1, 1}}, {"block", {32, 1, 1}}};
  launch["counters"] = {{"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", store_requests},
                        {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", store_sectors}};
  launch["lines"] = Json::parse(lines);
  return Json::array({launch});
}

double count(const Json& report, const std::string& name) { return totals(report).counts.at(name); }

}  // namespace

TEST_CASE("members of a float2 in memory are one load, of all its words", "[grader][counts]") {
  const Json report = report_of(R"([
    {"memory": "global", "access": "load", "bytes_per_thread": 4, "instructions": 10, "threads": 320, "sectors": 80,
     "sectors_ideal": 40, "as_compiled": {"instructions": 10, "sectors": 80, "moved": false, "merged": true}},
    {"memory": "global", "access": "load", "bytes_per_thread": 4, "instructions": 10, "threads": 320, "sectors": 80,
     "sectors_ideal": 40, "as_compiled": {"instructions": 0, "sectors": 0, "moved": false, "merged": true}}])");
  CHECK(count(report, "load_requests") == 10);
  CHECK(count(report, "load_sectors") == 80);
  CHECK(count(report, "load_words") == 640);
  CHECK(count(report, "load_sectors_per_ideal") == 1);
  CHECK(totals(report).load_sectors == 0);  // whether all inputs were loaded, the counters say, as written
}

TEST_CASE("a load that nvcc moves out of a loop counts once, with its words", "[grader][counts]") {
  const Json report = report_of(R"([
    {"memory": "global", "access": "load", "bytes_per_thread": 4, "instructions": 40, "threads": 1280, "sectors": 40,
     "sectors_ideal": 40, "as_compiled": {"instructions": 10, "sectors": 10, "moved": true, "merged": false}}])");
  CHECK(count(report, "load_requests") == 10);
  CHECK(count(report, "load_sectors") == 10);
  CHECK(count(report, "load_words") == 320);
}

TEST_CASE("what nvcc makes of a line is never held against it", "[grader][counts]") {
  // A short branch: all warps issue its instruction.
  const Json report = report_of(R"([
    {"memory": "global", "access": "load", "bytes_per_thread": 4, "instructions": 10, "threads": 320, "sectors": 40,
     "sectors_ideal": 40, "as_compiled": {"instructions": 25, "sectors": 40, "moved": false, "merged": false}}])");
  CHECK(count(report, "load_requests") == 10);
}

TEST_CASE("stores that nvcc merges count as compiled, atomic updates beside them as ever", "[grader][counts]") {
  Json report = report_of(R"([
    {"memory": "global", "access": "store", "bytes_per_thread": 4, "instructions": 20, "threads": 640, "sectors": 160,
     "sectors_ideal": 80, "as_compiled": {"instructions": 10, "sectors": 80, "moved": false, "merged": true}}])",
                          20, 160);
  report[0]["counters"]["l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"] = 7;
  CHECK(count(report, "store_sectors") == 87);
  CHECK(count(report, "sectors_per_store") == 8);
  CHECK(totals(report).store_sectors == 160);
}

TEST_CASE("shared memory counts as compiled where that is less, its bank conflicts, too", "[grader][counts]") {
  Json report = report_of(R"([
    {"memory": "shared", "access": "load", "bytes_per_thread": 4, "instructions": 8, "threads": 256, "wavefronts": 16,
     "wavefronts_ideal": 8, "as_compiled": {"instructions": 2, "wavefronts": 8, "wavefronts_ideal": 8, "moved": false,
     "merged": true}},
    {"memory": "shared", "access": "store", "bytes_per_thread": 4, "instructions": 2, "threads": 64, "wavefronts": 4,
     "wavefronts_ideal": 2}])");
  report[0]["counters"]["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] = 16;
  report[0]["counters"]["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"] = 4;
  report[0]["derived"]["shared_load_bank_conflicts"] = 8;
  report[0]["derived"]["shared_store_bank_conflicts"] = 2;
  CHECK(count(report, "shared_wavefronts") == 12);
  CHECK(count(report, "shared_conflicts") == 2);
}

TEST_CASE("words that are loaded again: not counted, or counted where the task says so", "[grader][counts]") {
  Json report = report_of(R"([
    {"memory": "global", "access": "load", "bytes_per_thread": 4, "instructions": 10, "threads": 320, "sectors": 40,
     "sectors_ideal": 40, "instructions_repeated": 4, "sectors_repeated": 16}])");
  CHECK(count(report, "load_requests") == 6);
  CHECK(count(report, "load_sectors") == 24);
  CHECK(count(report, "load_words") == 192);
  count_repeats(report);
  CHECK(count(report, "load_requests") == 10);
  CHECK(count(report, "load_sectors") == 40);
}

TEST_CASE("every count has words, a row in the page for teachers, and a value where it comes from the report",
          "[counts]") {
  std::ifstream file(TILEWISE_SOURCE_DIR "/docs/teaching.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const std::string& name : count_names()) {
    INFO(name);
    CHECK(!readable_count(name).empty());
    CHECK(page.find("`" + name + "`") != std::string::npos);
  }
  for (const auto& [name, value] : totals(Json::array()).counts) {
    INFO(name);
    CHECK(std::count(count_names().begin(), count_names().end(), name) == 1);
  }
}
