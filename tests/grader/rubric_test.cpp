// What an instructor may write into N_task.json, and what is said when it makes no sense.
#include "grader/rubric.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "catch.hpp"

using namespace tilewise::grader;

namespace {

const std::string kGood = R"({
  "task": "t", "level": "core", "title": "x", "weight": 50, "sizes": ["rows", "nnz"],
  "points": { "compiles": 5, "visible": 30, "hidden": 25, "findings": 20, "efficiency": 20 },
  "visible": [[3, 4], [1, 0]],
  "hidden": { "seed": 1, "count": 2, "ranges": [[1, 9], [0, 9]] },
  "time_limit_seconds": 3,
  "efficiency": { "shape": [8, 8], "limits": [
    { "count": "resident_warps", "at_least": 32, "points": 12, "why": "w" },
    { "count": "launches", "at_most": 1, "at_least": 1, "points": 8, "why": "w" } ] }
})";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

Rubric read(const std::string& text) {
  const std::string file =
      (std::filesystem::temp_directory_path() / ("rubric-" + std::to_string(getpid()) + ".json")).string();
  std::ofstream(file) << text;
  struct Remove {
    std::string file;
    ~Remove() { std::remove(file.c_str()); }
  } remove{file};
  return read_rubric(file);
}

std::string error(const std::string& text) {
  try {
    read(text);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

bool says(const std::string& text, const std::string& what) { return error(text).find(what) != std::string::npos; }

}  // namespace

TEST_CASE("rubric: bounds from below, from above, and both", "[grader]") {
  const Rubric r = read(kGood);
  REQUIRE(r.limits.size() == 2);
  CHECK_FALSE(r.limits[0].kept(31));
  CHECK(r.limits[0].kept(32));
  CHECK(r.limits[0].kept(64));
  CHECK_FALSE(r.limits[1].kept(0));
  CHECK(r.limits[1].kept(1));
  CHECK_FALSE(r.limits[1].kept(2));
  CHECK(r.libraries.empty());
  CHECK(r.visible[1] == Sizes{1, 0});
}

TEST_CASE("rubric: libraries by task", "[grader]") {
  CHECK(read(replaced(kGood, "\"time_limit", "\"libraries\": [\"cublas\"], \"time_limit")).libraries ==
        std::vector<std::string>{"cublas"});
  CHECK(says(replaced(kGood, "\"time_limit", "\"libraries\": [\"cufft\"], \"time_limit"), "cufft"));
}

TEST_CASE("rubric: a limit may have a shape of its own", "[grader]") {
  const std::string own = replaced(kGood, "\"at_least\": 32,", "\"at_least\": 32, \"shape\": [5, 6],");
  CHECK(read(own).limits[0].shape == Sizes{5, 6});
  CHECK(read(own).limits[1].shape.empty());
  CHECK(says(replaced(own, "[5, 6]", "[5]"), "[5]"));
}

TEST_CASE("rubric: what the lesson is about, the largest sizes, and how much of a GPU must be busy", "[grader]") {
  const Rubric plain = read(kGood);
  CHECK_FALSE(plain.limits[0].lesson);
  CHECK(plain.largest.empty());
  CHECK_FALSE(plain.any_base);
  CHECK(plain.busy_multiprocessors == 16);
  std::string full = replaced(kGood, "\"at_least\": 32,", "\"at_least\": 32, \"lesson\": true,");
  full = replaced(full, "\"time_limit", "\"largest\": [[2147483647, 1]], \"any_base\": true, \"time_limit");
  full = replaced(full, "\"limits\"", "\"busy_multiprocessors\": 8, \"limits\"");
  const Rubric r = read(full);
  CHECK(r.limits[0].lesson);
  CHECK_FALSE(r.limits[1].lesson);
  CHECK(r.largest == std::vector<Sizes>{{2147483647, 1}});
  CHECK(r.any_base);
  CHECK(r.busy_multiprocessors == 8);
  CHECK(says(replaced(full, "[2147483647, 1]", "[1]"), "largest"));
  CHECK(says(replaced(full, "processors\": 8", "processors\": 133"), "0 to 132"));
}

TEST_CASE("rubric: what makes no sense is named", "[grader]") {
  CHECK(error(kGood).empty());
  CHECK(says(replaced(kGood, "\"at_least\": 32, ", ""), "at_most"));
  CHECK(says(replaced(kGood, "resident_warps", "occupancy"), "resident_warps"));  // the list of those there are
  CHECK(says(replaced(kGood, "\"weight\"", "\"wait\""), "wait"));
  CHECK(says(replaced(kGood, "\"points\": 12", "\"points\": 13"), "21"));
  CHECK(says(replaced(kGood, "[0, 9]", "[-1, 9]"), "range"));
  CHECK(says(replaced(kGood, "[3, 4]", "[3, 4, 5]"), "3, 4, 5"));
  CHECK(says(replaced(kGood, "[3, 4]", "[3, 2000000]"), "1048576"));
  CHECK(says(replaced(kGood, "[\"rows\", \"nnz\"]", "[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\"]"), "1 to 6"));
  CHECK(says(replaced(kGood, "\"time_limit_seconds\": 3", "\"time_limit_seconds\": \"3\""), "wrong type"));
  CHECK(says(replaced(kGood, "\"points\": 12", "\"points\": -12"), "\"resident_warps\": points must not be negative"));
  CHECK(says("[1, 2]", "an object, {\"key\": value}, is expected in place of [1,2]"));
}

TEST_CASE("rubric: of what is not JSON, the place is named", "[grader]") {
  const std::string comma = error(replaced(kGood, "\"core\",", "\"core\""));  // the next key is not expected
  INFO(comma);
  CHECK(comma.ends_with(".json is not JSON: line 2, column 38"));
  CHECK(error("").ends_with(".json is not JSON: line 1, column 1"));
  CHECK(error("{\n  \"task\": \"t\",\n").ends_with(".json is not JSON: line 3, column 1"));
  for (const char* text : {"", "{", "{\"a\": \"\xff\"}", "nul"}) CHECK_FALSE(says(text, "json.exception"));
}

TEST_CASE("rubric: hidden shapes are new, different, and in their ranges", "[grader]") {
  Rubric r = read(kGood);
  r.hidden_count = 20;
  const auto shapes = r.hidden();
  CHECK(shapes.size() == 20);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    CHECK((shapes[i][0] >= 1 && shapes[i][0] <= 9 && shapes[i][1] >= 0 && shapes[i][1] <= 9));
    CHECK(shapes[i] != r.visible[0]);
    CHECK(shapes[i] != r.visible[1]);
    for (std::size_t k = 0; k < i; ++k) CHECK(shapes[i] != shapes[k]);
  }
}
