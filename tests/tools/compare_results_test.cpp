// `make compare`: the logic of common/tools/compare.cpp on small runs.
#include "../../common/tools/compare_results.hpp"
#include "text.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace compare_results;

namespace {

Json timed(const std::string& shape, int tile, const std::string& kernel, double ms) {
  Json row;
  row["kernel"] = kernel, row["shape"] = shape, row["status"] = "OK", row["tile"] = tile, row["time"]["median_ms"] = ms;
  return row;
}

Json counted(const std::string& kernel, long long requests, long long sectors) {
  Json row;
  row["kernel"] = kernel, row["shape"] = "64 x 64 x 64", row["status"] = "OK";
  row["counts"]["global_load_requests"] = requests, row["counts"]["global_load_sectors"] = sectors;
  return row;
}

Json run_of(std::vector<Json> rows) {
  Json run;
  run["program"] = "02_tiled_matmul", run["command_line"] = "02_tiled_matmul --json part.json";
  run["rows"] = rows;
  return run;
}

}  // namespace

TEST_CASE("a machine's name gives the name of its file", "[compare]") {
  CHECK(slug("NVIDIA H200") == "nvidia-h200");
  CHECK(slug("NVIDIA GeForce RTX 4090") == "nvidia-geforce-rtx-4090");
  CHECK(slug("Simulated NVIDIA H200") == "simulated-nvidia-h200");
}

TEST_CASE("a lesson is run at the sizes that were recorded", "[compare]") {
  using Words = std::vector<std::string>;
  Json run = run_of({timed("4 x 5 x 6", 8, "a", 1), timed("4 x 5 x 6", 16, "a", 1), timed("7 x 8 x 9", 8, "a", 1)});
  CHECK(arguments(run) == Words{"--m", "4,7", "--n", "5,8", "--k", "6,9"});
  run["command_line"] = "02_tiled_matmul --tile 8,16 --json=x.json --seed 3";
  CHECK(arguments(run) == Words{"--tile", "8,16", "--seed", "3", "--m", "4,7", "--n", "5,8", "--k", "6,9"});
  run["command_line"] = "02_tiled_matmul --n 100 --json x.json --tile 8";  // sizes were given: nothing to work out
  CHECK(arguments(run) == Words{"--n", "100", "--tile", "8"});
  run = run_of({timed("256 x 256", 8, "transpose", 1)});
  run["command_line"] = "04_transpose --rows 3 --json a";  // no product: the recorded options
  CHECK(arguments(run) == Words{"--rows", "3"});
  run = run_of({timed("4 x 5 x 6", 8, "a", 1), timed("27-point stencil", 8, "a", 1)});
  CHECK(arguments(run).empty());
}

TEST_CASE("a lesson's run is found by its program", "[compare]") {
  Json recorded;
  recorded["runs"] = {run_of({timed("1 x 1 x 1", 8, "a", 1)})};
  CHECK(text(recorded_run(recorded, "02_tiled_matmul"), "program") == "02_tiled_matmul");
  CHECK(recorded_run(recorded, "01_naive_matmul").is_null());
  CHECK(recorded_run(Json::object(), "01_naive_matmul").is_null());
}

TEST_CASE("times: a ratio for every row, and what is slower than tolerated", "[compare]") {
  const Json before =
      run_of({timed("4 x 4 x 4", 8, "a", 2.0), timed("4 x 4 x 4", 16, "a", 2.0), timed("4 x 4 x 4", 8, "b", 2.0)});
  const Json here =
      run_of({timed("4 x 4 x 4", 8, "a", 1.0), timed("4 x 4 x 4", 16, "a", 2.19), timed("4 x 4 x 4", 8, "b", 2.21)});
  const Result same_gpu = compare_results::compare(before, here, 0.1, true);
  CHECK(same_gpu.compared == 3);
  CHECK(same_gpu.worse == 1);
  REQUIRE(same_gpu.ratios.size() == 3);
  CHECK(same_gpu.ratios[0] == 2.0);
  CHECK(has(same_gpu.table, "2.000x"));
  CHECK(has(same_gpu.table, "0.905x  slower"));
  CHECK(compare_results::compare(before, here, 0.2, true).worse == 0);
  CHECK(compare_results::compare(before, here, 0.1, false).worse == 0);  // another GPU may be slower
  CHECK(mean_ratio({2.0, 0.5}) == Approx(1.0));
  CHECK(mean_ratio({}) == 0);
}

TEST_CASE("rows are the same only when shape, tile, kernel, part and the lesson's own columns are", "[compare]") {
  Json with_stride = timed("4 x 4 x 4", 8, "a", 1.0), other_stride = with_stride, other_part = with_stride;
  with_stride["extra"]["stride"] = "1", other_stride["extra"]["stride"] = "2", other_part["part"] = "shared";
  CHECK(key(with_stride) != key(other_stride));
  CHECK(key(timed("4 x 4 x 4", 8, "a", 1.0)) != key(other_part));
  CHECK(key(timed("4 x 4 x 4", 8, "a", 1.0)) == key(timed("4 x 4 x 4", 8, "a", 3.0)));
  const Result result =
      compare_results::compare(run_of({with_stride, other_part}), run_of({other_stride, other_part}), 0.1, true);
  with_stride["extra"]["hint"] = "-";
  CHECK(label(with_stride) == "a stride=1");
  CHECK(result.compared == 1);
  CHECK(result.missing == 1);
  CHECK(result.added == 1);
  CHECK(result.worse == 0);
  CHECK(has(result.table, "not recorded"));
  CHECK(has(result.table, "not run here"));
}

TEST_CASE("a wrong result is worse than any time, and a skipped row is none", "[compare]") {
  Json wrong = timed("4 x 4 x 4", 8, "a", 1.0), skipped = timed("4 x 4 x 4", 64, "a", 1.0);
  wrong["status"] = "WRONG", wrong["reason"] = "3 of 16 elements", wrong.erase("time");
  skipped["status"] = "SKIP";
  const Json before = run_of({timed("4 x 4 x 4", 8, "a", 1.0), skipped});
  const Result result = compare_results::compare(before, run_of({wrong, skipped}), 0.1, false);
  CHECK(result.compared == 1);
  CHECK(result.worse == 1);
  CHECK(result.missing == 0);
  CHECK(has(result.table, "3 of 16 elements"));
}

TEST_CASE("counts must be equal, and the one that differs is named", "[compare]") {
  const Json before = run_of({counted("a", 1000, 4000), counted("b", 1000, 4000)});
  const Result equal = compare_results::compare(before, before, 0.1, true);
  CHECK(equal.compared == 2);
  CHECK(equal.worse == 0);
  CHECK(has(equal.table, "4,000  4,000  1.000x  global_load_sectors (all counts equal)"));
  CHECK(
      has(equal.table, "shape         kernel  recorded   here   ratio  count\n"));  // no row has a tile: no such column
  const Result changed =
      compare_results::compare(before, run_of({counted("a", 1000, 4000), counted("b", 1000, 8000)}), 0.1, true);
  CHECK(changed.worse == 1);
  CHECK(has(changed.table, "global_load_sectors"));
  CHECK(has(changed.table, "2.000x"));
  CHECK(!has(changed.table, "global_load_requests"));
  // Times on one side, counts on the other: nothing in common.
  CHECK(compare_results::compare(run_of({timed("64 x 64 x 64", 0, "a", 1)}), run_of({counted("a", 1, 1)}), 0.1, true)
            .compared == 0);
}

TEST_CASE("what was recorded can be looked at, all rows or some", "[compare]") {
  Json fast = timed("4 x 4 x 4", 8, "tiled", 0.5), slow = timed("4 x 4 x 4", 8, "naive", 1.0), skipped = slow;
  fast["figure"]["value"] = 256.0, fast["figure"]["unit"] = "GFLOP/s", fast["speedup"]["same_block"] = 2.0;
  skipped["status"] = "SKIP";
  const Json run = run_of({slow, fast, skipped});
  const std::string all = shown(run, {});
  CHECK(std::count(all.begin(), all.end(), '\n') == 3);  // a heading and two rows
  CHECK(has(all, "shape      tile  kernel     ms         rate  same block\n"));
  CHECK(has(all, "4 x 4 x 4     8  naive    1.00            -           -\n"));
  CHECK(has(all, "4 x 4 x 4     8  tiled   0.500  256 GFLOP/s      2.000x\n"));
  CHECK(has(shown(run, {"tiled", "2.000x same block"}), "tiled"));
  const std::string some = shown(run, {"naive", "4 x 4"});
  CHECK(has(some, "naive"));
  CHECK(!has(some, "tiled"));
  CHECK(shown(run, {"nothing"}).empty());
  CHECK(shown(Json(), {}).empty());
}

TEST_CASE("rows that say what they are about are told apart by it, and waiting is shown in cycles", "[compare]") {
  Json near = timed("1 KB", 0, "chase", 1.0), far = near;
  near["what"] = "one address", near["latency"]["cycles"] = 30.04, far["what"] = "32 addresses";
  CHECK(key(near) != key(far));
  const Json run = run_of({near, far});
  CHECK(compare_results::compare(run, run, 0.1, true).compared == 2);
  CHECK(has(shown(run, {}), "chase: one address"));
  CHECK(has(shown(run, {"one"}), "30.0 cycles"));
  CHECK(!has(shown(run, {"one"}), "32 addresses"));
}
