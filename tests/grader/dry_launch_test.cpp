// What is known of arrays that are too large to be made.
#include "grader/dry_launch.hpp"

#include "catch.hpp"

using namespace tilewise::grader;

namespace {

Values zeros(std::size_t n) { return std::vector<float>(n); }

/// Buffers of many kinds of sizes.
struct ManySizes : Task {
  ManySizes() : Task("99_made_up", "many_sizes") {}
  Problem make(const Sizes& s, std::uint64_t seed) const override {
    const int m = s[0], k = s[1], by_chance = int((seed + 7 * std::uint64_t(m)) % 13);
    const auto buffer = [](const char* name, int rows, int cols) {
      return input(name, rows, cols, zeros(std::size_t(rows) * std::size_t(cols)));
    };
    return {.buffers = {buffer("product", m, k), buffer("starts", 1, m + 1), buffer("square", k, k),
                        buffer("records", 1, 8 * m), buffer("padded", m, k + 3), buffer("chance", 1, by_chance),
                        buffer("tiles", (m + 3) / 4, 1), buffer("none", 0, 0)}};
  }
  std::string where(const Place&) const override { return ""; }
};

}  // namespace

TEST_CASE("dry launches: how large arrays are at sizes that nobody can run", "[grader]") {
  const ManySizes task;
  Rubric rubric;
  rubric.sizes = {"M", "K"};
  rubric.visible = {{3, 5}, {4, 7}, {10, 2}, {1, 1}, {33, 64}, {6, 6}};
  const auto found = elements_at(rubric, task, {65535, 32000});
  CHECK(elements_at(rubric, task, {65535, 65535})[0] == std::uint64_t{65535} * 65535);
  REQUIRE(found.size() == 8);
  CHECK(found[0] == 65535ull * 32000);
  CHECK(found[1] == 65536);
  CHECK(found[2] == 32000ull * 32000);
  CHECK(found[3] == 8ull * 65535);
  CHECK(found[4] == 65535ull * 32003);
  CHECK_FALSE(found[5]);
  CHECK_FALSE(found[6]);
  CHECK(found[7] == 0);
}
