// Reading puzzles, putting the learner's part together with the check, and reading predictions.
#include "learn.hpp"
#include "learn/record.hpp"

using namespace learn_test;

namespace {

Puzzle read(const std::string& text) {
  const Repository repository;
  return read_puzzle(repository.root(), repository.add("03_guard", text));
}

std::string error(const std::string& text) {
  try {
    read(text);
  } catch (const BadPuzzle& bad) {
    return bad.what();
  }
  return "";
}

const std::string kPredict = replaced(puzzle_text(kRight + "  // sectors in all: ?\n"), "Kind: write",
                                      "Kind: predict\n// Answer: load_sectors\n// If 5: no, each counts once");

}  // namespace

TEST_CASE("a puzzle's comments are read", "[learn]") {
  const Puzzle p = read(puzzle_text(kRight,
                                    "// Limit: sectors_per_store <= 4.5: side by side\n// Limit: launches = 1: one\n"
                                    "// Show: launches, load_sectors\n// GPU: fast\n"));
  CHECK(p.id() == "00-3");
  CHECK(p.shown_file() == "chapters/00_first/puzzles/03_guard.cu");
  CHECK(p.title == "The guard");
  CHECK(p.goal == "Add one to each of n numbers. Threads without a number go home.");
  CHECK(p.kind == Kind::write);
  CHECK(p.minutes == 2);
  CHECK(p.hints == Lines{"one", "two, which goes on", "three"});
  REQUIRE(p.limits.size() == 2);
  CHECK(p.limits[0].count == "sectors_per_store");
  CHECK(p.limits[0].why == "side by side");
  CHECK(p.limits[0].holds(4.5));
  CHECK_FALSE(p.limits[0].holds(4.6));
  CHECK(p.limits[1].holds(1));
  CHECK_FALSE(p.limits[1].holds(2));
  CHECK(p.shown == Lines{"launches", "load_sectors"});
  CHECK(p.notice == "24 threads did nothing.");
  CHECK(p.gpu == "fast");
  CHECK(p.devices == 1);
}

TEST_CASE("a puzzle may want several devices", "[learn]") {
  for (const std::string number : {"1", "2", "8"})
    CHECK(read(puzzle_text(kRight, "// Devices: " + number + "\n")).devices == std::stoi(number));
  for (const std::string wrong : {"0", "9", "-1", "two", "2 or 3", "02", "2.0", "1,0"})
    CHECK(error(puzzle_text(kRight, "// Devices: " + wrong + "\n")) ==
          "tests/00_first/puzzles/03_guard.cu:33: Devices must be 1 to 8");
}

TEST_CASE("a puzzle that is none is refused, with file and line", "[learn]") {
  const std::string good = puzzle_text();
  CHECK(error(good).empty());
  CHECK(error(replaced(good, "// ---- The check.", "// Check.")).find("03_guard.cu:1: there is no line") !=
        std::string::npos);
  CHECK(error(replaced(good, "Kind: write", "Kind: sing")).find("write, repair, improve or predict") !=
        std::string::npos);
  CHECK(error(replaced(good, "Minutes: 2", "Minutes: 11")).find("1 to 10") != std::string::npos);
  CHECK(error(good + "// Limit: sectors per store: 4\n").find("a limit looks like this") != std::string::npos);
  CHECK(error(good + "// Limit: secotrs <= 4: x\n").find("there is no count secotrs; there are") != std::string::npos);
  CHECK(error(good + "// Show: launches, nothing\n").find("no count nothing") != std::string::npos);
  CHECK(error(replaced(good, "Goal:", "Aim:")).find("no // Goal:") != std::string::npos);
  CHECK(error(replaced(kPredict, "// sectors in all: ?", "")).find("has a line like this") != std::string::npos);
  CHECK(error(replaced(kPredict, "// Answer: load_sectors\n", "")).find("has a line // Answer") != std::string::npos);
}

TEST_CASE("the learner's part stands above the original's check, line by line", "[learn]") {
  const Puzzle p = read(puzzle_text());
  const std::string mine = puzzle_text(kRight + "\n\n");

  const Composed same = compose(p, mine);
  CHECK(same.problem.empty());
  CHECK(same.note.empty());
  CHECK(lines_of(same.text) == lines_of(mine));
  CHECK(same.own_lines == p.check + 2);

  const Composed changed = compose(p, replaced(mine, "const int n = 40;", "const int n = 1;"));
  CHECK(changed.problem.empty());
  CHECK(changed.note.find("The check") != std::string::npos);
  CHECK(lines_of(changed.text) == lines_of(mine));

  CHECK(compose(p, replaced(mine, "// ---- The check.", "//")).problem.find("Write it back") != std::string::npos);
  CHECK(compose(p, "").problem.find("Write it back") != std::string::npos);
  CHECK(compose(p, std::string("a\0b", 3)).problem.find("not plain text") != std::string::npos);
}

TEST_CASE("editors may end lines as they like", "[learn]") {
  const Puzzle p = read(puzzle_text());
  std::string windows = "\xef\xbb\xbf";
  for (const std::string& line : p.lines) windows += line + " \r\n";
  CHECK(is_starter(p, windows));
  CHECK(is_starter(p, p.text() + "\n\n"));
  CHECK_FALSE(is_starter(p, puzzle_text(kRight)));
  CHECK(compose(p, windows).note.empty());
}

TEST_CASE("predictions", "[learn]") {
  const Puzzle p = read(kPredict);
  const auto with = [&](const std::string& by) { return read_prediction(p, replaced(kPredict, ": ?", by)); };
  CHECK(with(": 4").number == 4.0);
  CHECK(with(": 1,024 sectors").number == 1024.0);
  CHECK(with(":16.5").number == 16.5);
  CHECK(with(": about 7.").number == 7.0);
  CHECK_FALSE(with(": 4").other_changes);
  CHECK(read_prediction(p, replaced(replaced(kPredict, ": ?", ": 4"), "+ 1", "+ 2")).other_changes);
  CHECK(with(": ?").problem.find("Write your number in line 10") != std::string::npos);
  CHECK(with(": many").problem.find("Write your number") != std::string::npos);
  CHECK(read_prediction(p, replaced(kPredict, "// sectors in all: ?", "")).problem.find("is gone") !=
        std::string::npos);
}

TEST_CASE("numbers and names", "[learn]") {
  CHECK(parse_id("03-2") == std::pair<std::string, int>("03", 2));
  CHECK(parse_id("3-02") == std::pair<std::string, int>("03", 2));
  CHECK(parse_id("03_padded_tiles-2") == std::pair<std::string, int>("03", 2));
  CHECK_FALSE(parse_id("03"));
  CHECK_FALSE(parse_id("guard.cu"));
  CHECK(with_separators("1024 of 40960, in[1024] and x1024") == "1,024 of 40,960, in[1024] and x1024");
  CHECK(count_text(32380.0000001) == "32,380");
  CHECK(count_text(4.5) == "4.5");
}

TEST_CASE("a brace without another one is named", "[learn]") {
  CHECK(brace_problem("f() {\n  g(\"}\"); // }\n  /* { \n */ h('{');\n}\n", 9).empty());
  CHECK(brace_problem("f() {\n  if (x) {\n}\n", 9).find("the { in line 1") != std::string::npos);
  CHECK(brace_problem("f() \n  x;\n}\n", 9).find("the } in line 3") != std::string::npos);
}

TEST_CASE("recorded times in a sentence", "[learn]") {
  const Repository repository;
  Repository::write(repository.root() / "docs/results/nvidia-h200.json", R"({"runs": [{"program": "00_first", "rows": [
    {"kernel": "add<1>", "status": "OK", "part": "walk", "shape": "4096 x 2", "extra": {"row of tile": "33"}, "time": {"median_ms": 12.34}},
    {"kernel": "add", "status": "OK", "part": "walk", "shape": "4096 x 2", "extra": {"row of tile": "32"}, "time": {"median_ms": 0.0456}},
    {"kernel": "add", "status": "OK", "part": "run", "shape": "8 x 2", "time": {"median_ms": 4.11}}]}]})");
  const auto text = [&](const std::string& t) { return with_records(t, repository.root()); };
  CHECK(text("no marker") == "no marker");
  CHECK(text("It takes {ms 00_first \"walk kernel=add row_of_tile=32\"}.") == "It takes 45.6 us.");
  CHECK(text("{ms 00_first \"kernel=add shape=8\"}") == "4.11 ms");
  CHECK(text("{ratio 00_first \"kernel=add<1>\" / \"run\"} times") == "3.0 times");
  CHECK_THROWS(text("{ms 00_first \"kernel=add\"}"));
  CHECK_THROWS(text("{ms 00_first \"kernel=sub\"}"));
  CHECK_THROWS(text("{mean 00_first}"));
}
