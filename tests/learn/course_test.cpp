// Attempts of the bank, what is kept between two runs, saves, the screen, and the command line.
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "learn.hpp"
#include "learn/screen.hpp"
#include "learn/watch.hpp"
#include "text.hpp"

using namespace learn_test;

namespace {

const std::string kAttempts = R"(# starter
says: past its end

# solution
-  out[i] = in[i] + 1;  // TODO
+  if (i < n) out[i] = in[i] + 1;

# wrong: one short
says: never written
-  out[i] = in[i] + 1;  // TODO
+  if (i < n - 1) out[i] = in[i] + 1;
)";

Puzzle puzzle_with(const Repository& repository, const std::string& attempts) {
  const fs::path original = repository.add("03_guard", puzzle_text());
  Repository::write(fs::path(original).replace_extension(".attempts"), attempts);
  return read_puzzle(repository.root(), original);
}

std::string attempts_error(const std::string& attempts) {
  const Repository repository;
  try {
    read_attempts(puzzle_with(repository, attempts));
  } catch (const BadPuzzle& bad) {
    return bad.what();
  }
  return "";
}

struct Outcome {
  int code;
  std::string text;
};

Outcome learn(const Repository& repository, const std::string& arguments) {
  const std::string log = (repository.root() / "log.txt").string();
  const std::string command =
      TILEWISE_LEARN " --root " + repository.root().string() + " " + arguments + " > " + log + " 2>&1 < /dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, tilewise::grader::read_file(log)};
}

}  // namespace

TEST_CASE("attempts are the puzzle with other lines", "[learn]") {
  const Repository repository;
  const Puzzle p = puzzle_with(repository, "gpu: starter may pass\n\n" + kAttempts);
  const Attempts attempts = read_attempts(p);
  CHECK(attempts.gpu_starter_may_pass);
  REQUIRE(attempts.all.size() == 3);
  CHECK(attempts.all[0].text == p.text());
  REQUIRE(attempts.solution() != nullptr);
  CHECK(attempts.solution()->text == puzzle_text(kRight));
  CHECK(attempts.solution()->changes.at(0).line == 9);
  CHECK(attempts.all[2].words == "one short");
  CHECK(attempts.all[2].says == Lines{"never written"});
  const Lines problems = form_problems(p, attempts, repository.root());
  REQUIRE(problems.size() == 1);
  CHECK(has(problems[0], "fewer than 3 wrong"));
}

TEST_CASE("attempts that make no sense are refused, with file and line", "[learn]") {
  CHECK(attempts_error(kAttempts).empty());
  CHECK(has(attempts_error(""), "no such file"));
  CHECK(has(attempts_error("# solution\n-nothing\n+x\n"), "0 times, not once"));
  CHECK(has(attempts_error("# solution\n-}\n+x\n"), "times, not once"));
  CHECK(has(attempts_error("# solution\n+x\n"), "no - line"));
  CHECK(has(attempts_error("# solution\n"), "replaces nothing"));
  CHECK(has(attempts_error("# great: x\n"), "a section is"));
  CHECK(has(attempts_error("# solution\nblah\n"), "03_guard.attempts:2: "));
}

TEST_CASE("verdicts are kept between two runs, by what is in the files", "[learn]") {
  const Repository repository;
  const Workshop workshop(repository.root());
  repository.add("01_guard", puzzle_text());
  repository.add("02_guard", puzzle_text());
  const fs::path mine = repository.root() / "chapters/00_first/puzzles/01_guard.cu";
  {
    Course course(workshop);
    CHECK(course.state_of(0) == State::untouched);
    CHECK(course.first() == 0);
    Repository::write(mine, puzzle_text("  if (i < n - 1) out[i] = in[i] + 1;\n"));
    CHECK(course.state_of(0) == State::unknown);
    REQUIRE(workshop.make_prelude().empty());
    course.judge_unknown();
    CHECK(course.state_of(0) == State::tried);
    Repository::write(mine, puzzle_text(kRight));
    CHECK(course.verdict(0, course.text_of(0)).solved());
    course.remember(0);
  }
  {
    Course course(workshop);
    CHECK(course.state_of(0) == State::solved);
    CHECK(course.solved() == 1);
    CHECK(course.first() == 1);  // after the one where the learner was, which is solved
    CHECK(course.known(0, course.text_of(0))->counts.at("launches") == 1);
    CHECK(has(course.known(0, puzzle_text("  if (i < n - 1) out[i] = in[i] + 1;\n"))->text(), "never written"));
    course.remember(1);
  }
  Repository::write(workshop.folder() / "verdicts.json", "{ not json");
  Course course(workshop);
  CHECK(course.state_of(0) == State::unknown);
  CHECK(course.first() == 1);
  course.judge_unknown();
  CHECK(course.state_of(0) == State::solved);
}

TEST_CASE("reset keeps what was there", "[learn]") {
  const Repository repository;
  const Workshop workshop(repository.root());
  repository.add("01_guard", puzzle_text());
  const Course course(workshop);
  const fs::path mine = repository.root() / "chapters/00_first/puzzles/01_guard.cu";
  CHECK(course.reset(0).empty());
  Repository::write(mine, "mine");
  CHECK(course.reset(0) == mine.string() + ".1");
  CHECK(tilewise::grader::read_file(mine) == puzzle_text());
  Repository::write(mine, "mine again");
  CHECK(course.reset(0) == mine.string() + ".2");
  CHECK(tilewise::grader::read_file(mine.string() + ".1") == "mine");
  fs::remove(mine);
  CHECK(course.reset(0).empty());
  CHECK(fs::exists(mine));
}

TEST_CASE("a save is noticed once, and never half of it", "[learn]") {
  using namespace std::chrono_literals;
  const Repository repository;
  const fs::path file = repository.root() / "x.cu", other = repository.root() / "y.cu";
  Repository::write(file, "old");
  FileWatch watch(file);
  const auto next = [&](std::chrono::milliseconds most = 2000ms) -> std::optional<std::string> {
    const auto end = std::chrono::steady_clock::now() + most;
    while (std::chrono::steady_clock::now() < end) {
      if (const auto text = watch.saved()) return text;
      std::this_thread::sleep_for(5ms);
    }
    return std::nullopt;
  };
  CHECK_FALSE(next(150ms));

  Repository::write(file, "written");
  CHECK(next() == "written");
  CHECK_FALSE(next(150ms));

  Repository::write(other, "renamed");
  fs::rename(other, file);
  CHECK(next() == "renamed");

  {  // emptied, and written a moment later
    std::ofstream stream(file);
    for (int i = 0; i < 10; ++i) {
      CHECK_FALSE(watch.saved());
      std::this_thread::sleep_for(10ms);
    }
    stream << "emptied";
  }
  CHECK(next() == "emptied");

  {  // in pieces, with pauses that are shorter than the quiet that is waited for
    std::ofstream stream(file);
    for (int i = 0; i < 10; ++i) {
      stream << "piece " << std::flush;
      CHECK_FALSE(watch.saved());
      std::this_thread::sleep_for(FileWatch::kQuiet / 3);
      CHECK_FALSE(watch.saved());
    }
  }
  CHECK(next()->size() == 60);

  fs::remove(file);
  CHECK_FALSE(next(150ms));
  Repository::write(file, "back");
  CHECK(next() == "back");
}

TEST_CASE("the screen fits its terminal", "[learn]") {
  const Repository repository;
  const Puzzle p = puzzle_with(repository, kAttempts);
  View v;
  v.puzzle = &p;
  v.of = 10;
  v.solved = 5;
  v.verdict = Verdict{Step::result,
                      {"Where n = 1,000, " + std::string(100, 'x') +
                           " and more words, enough for several lines of any "
                           "terminal that somebody has",
                       "    9 | " + std::string(200, 'y')},
                      {},
                      {}};
  for (const int columns : {40, 60, 80, 200}) {
    for (const int rows : {12, 24, 60}) {
      const Lines lines = draw(v, {columns, rows, false});
      CHECK(lines.size() <= std::size_t(std::max(rows, 16)));
      for (const std::string& line : lines)
        if (!has(line, "xxx") && !has(line, "File: "))  // neither can be broken
          CHECK(line.size() <= std::size_t(std::min(columns, 80)));
      CHECK(has(joined(lines, "\n"), "\033[") == false);
    }
  }
  std::string text = joined(draw(v, {80, 0, false}), "\n");
  CHECK(has(text, "5 of 10 solved [##########----------]"));
  CHECK(has(text, "00-3  The guard"));
  CHECK(has(text, "h hint"));
  CHECK_FALSE(has(text, "Solved."));
  CHECK(has(joined(draw(v, {80, 0, true}), "\n"), "\033["));

  v.verdict = Verdict{Step::solved, {}, {}, {{"launches", 1}}, {"    kernels   00"}};
  v.before = {{"launches", 2}};
  v.next = "00-4, Next";
  Puzzle shown = p;
  shown.shown = {"launches"};
  v.puzzle = &shown;
  text = joined(draw(v, {80, 0, false}), "\n");
  CHECK(has(text, "Solved."));
  CHECK(has(text, "24 threads did nothing."));
  CHECK(has(text, "2 -> 1"));
  CHECK(has(text, "\n    kernels   00\n"));
  CHECK(has(text, "Press n for 00-4, Next."));
}

TEST_CASE("without a terminal learn prints once, and its exit code tells", "[learn]") {
  const Repository repository;
  puzzle_with(repository, kAttempts);
  Outcome o = learn(repository, "--judge 00-3");
  CHECK(o.code == 1);
  CHECK(has(o.text, "past its end"));
  CHECK(has(o.text, "chapters/00_first/puzzles/03_guard.cu"));
  CHECK_FALSE(has(o.text, "\033"));
  o = learn(repository, "");
  CHECK(o.code == 1);
  CHECK(has(o.text, "past its end"));
  o = learn(repository, "--judge 0-3 --hints 2 --solution");
  CHECK(has(o.text, "Hint 2: two, which goes on"));
  CHECK(has(o.text, "if (i < n) out[i]"));
  Repository::write(repository.root() / "chapters/00_first/puzzles/03_guard.cu", puzzle_text(kRight));
  CHECK(learn(repository, "--judge 00-3").code == 0);
  o = learn(repository, "--list");
  CHECK(o.code == 0);
  CHECK(has(o.text, "1 of 1 solved"));
  o = learn(repository, "--list --json");
  CHECK(has(o.text, "\"state\": \"solved\""));
}

TEST_CASE("a puzzle's file that is gone or empty is said to be", "[learn]") {
  const Repository repository;
  puzzle_with(repository, kAttempts);
  const fs::path file = repository.root() / "chapters/00_first/puzzles/03_guard.cu";
  Repository::write(file, "\n \n");
  for (const bool gone : {false, true}) {
    if (gone) fs::remove(file);
    const Outcome o = learn(repository, "--judge 00-3");
    INFO(o.text);
    CHECK(o.code == 1);
    CHECK(has(o.text, "The file is gone or empty. make learn FROM=00-3, and there r, "));
  }
}

TEST_CASE("learn refuses what it does not know, in one line", "[learn]") {
  const Repository repository;
  puzzle_with(repository, kAttempts);
  for (const auto& [arguments, says] : {std::pair<std::string, std::string>{"--hints 4 --judge 00-3", "--hints"},
                                        {"--jobs 0 --check-bank", "--jobs"},
                                        {"--colour", "--colour"},
                                        {"--hints 1", "--hints requires --judge"},
                                        {"--solution", "--solution requires --judge"},
                                        {"--counts", "--counts requires --judge"},
                                        {"--json", "--json requires --list"},
                                        {"--judge 00-1 --hints 9", "--hints: 9 is out of range; allowed are 0 to 3"},
                                        {"--form 00-1", "there is no option --form; is it --from?"},
                                        {"00-3", "--from 00-3 begins with it"},
                                        {"--attempts /dev/null/x", "the folder /dev/null/x cannot be written"},
                                        {"--root /nowhere", "/nowhere"}}) {
    const Outcome o = learn(repository, arguments);
    INFO(arguments << ": " << o.text);
    CHECK(o.code == 2);
    CHECK(has(o.text, says));
    CHECK(std::count(o.text.begin(), o.text.end(), '\n') == 1);
  }
  const Outcome o = learn(repository, "--judge 00-9");
  CHECK(o.code == 2);
  CHECK(has(o.text, "there is no puzzle 00-9. Those of chapter 00 are:"));
  CHECK(has(o.text, "00-3   The guard"));
  const Outcome all = learn(repository, "--judge 77");
  CHECK(all.code == 2);
  CHECK(has(all.text, "there is no puzzle 77. There are:"));
  CHECK(has(learn(repository, "--from 00").text, "00-1"));  // a chapter: its first
}

TEST_CASE("the bank fails for an attempt that is not judged as it says", "[learn]") {
  const Repository repository;
  puzzle_with(repository,
              kAttempts +
                  "\n# wrong: right\nsays: x\n-  out[i] = in[i] + 1;  // TODO\n+  if (i < n) out[i] = 1 + in[i];\n"
                  "\n# wrong: other words\nsays: banana\n-  out[i] = in[i] + 1;  // TODO\n+  out[i] = in[i];\n"
                  "\n# right: wrong\n-  out[i] = in[i] + 1;  // TODO\n+  out[i] = 1;\n");
  Outcome o = learn(repository, "--check-bank --jobs 2");
  CHECK(o.code == 1);
  CHECK(has(o.text, "it must not be solved, and is"));
  CHECK(has(o.text, "what is said lacks \"banana\""));
  CHECK(has(o.text, "it must be solved, and is not"));
  CHECK(has(o.text, "6 attempts, 3 not as expected"));
  puzzle_with(repository,
              kAttempts +
                  "\n# wrong: two\nsays: wrong\n-  out[i] = in[i] + 1;  // TODO\n+  if (i < n) out[i] = 1;\n"
                  "\n# wrong: three\nsays: compile\n-  out[i] = in[i] + 1;  // TODO\n+  out[i] = 1\n");
  o = learn(repository, "--check-bank 00");
  INFO(o.text);
  CHECK(o.code == 0);
}
