#include "learn/bank.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <system_error>

#include "grader/parallel.hpp"
#include "grader/tools.hpp"
#include "learn/judge.hpp"
#include "learn/record.hpp"
#include "tilewise/files.hpp"

namespace tilewise::learn {

namespace fs = std::filesystem;

namespace {

const char* name(Attempt::Kind kind) {
  static constexpr const char* names[] = {"starter", "solution", "right", "wrong"};
  return names[static_cast<int>(kind)];
}

/// Reads "# solution", "says: ...", and runs of lines that begin with - and +.
class AttemptsReader {
 public:
  explicit AttemptsReader(const Puzzle& puzzle)
      : puzzle_(puzzle), lines_(lines_of(grader::read_file(puzzle.attempts))) {
    if (lines_.empty()) fail("there is no such file, or it is empty");
  }

  Attempts read() {
    for (; at_ < lines_.size(); ++at_) read_line(lines_[at_]);
    finish_replacement();
    finish_attempt();
    return std::move(attempts_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw BadPuzzle(fmt::format("{}:{}: {}", shown(), at_ + 1, why));
  }
  std::string shown() const { return "tests/" + puzzle_.chapter + "/puzzles/" + puzzle_.attempts.filename().string(); }

  void read_line(const std::string& line) {
    if (line.starts_with("# ")) {
      finish_replacement();
      finish_attempt();
      begin_attempt(line.substr(2));
    } else if (line.starts_with("-")) {
      if (!added_.empty()) finish_replacement();
      removed_.push_back(line.substr(1));
    } else if (line.starts_with("+")) {
      if (removed_.empty()) fail("a + line has no - line before it: what does it replace?");
      added_.push_back(line.substr(1));
    } else if (line.empty()) {
      finish_replacement();
    } else if (line == "gpu: starter may pass" && !open_) {
      attempts_.gpu_starter_may_pass = true;
    } else if (line.starts_with("says: ") && open_) {
      attempt_.says.push_back(line.substr(6));
    } else {
      fail("this is no # section, no says: line and no line of a replacement");
    }
  }

  void begin_attempt(const std::string& heading) {
    using Kind = Attempt::Kind;
    const std::size_t colon = heading.find(": ");
    const std::string kind = heading.substr(0, colon);
    attempt_ = {};
    attempt_.words = colon == std::string::npos ? heading : heading.substr(colon + 2);
    if (heading == "solution")
      attempt_.kind = Kind::solution;
    else if (heading == "starter")
      attempt_.kind = Kind::starter;
    else if (kind == "right" && colon != std::string::npos)
      attempt_.kind = Kind::right;
    else if (kind == "wrong" && colon != std::string::npos)
      attempt_.kind = Kind::wrong;
    else
      fail("a section is # starter, # solution, # right: words or # wrong: words");
    open_ = true;
  }

  /// The removed lines must be there once.
  void finish_replacement() {
    if (removed_.empty()) return;
    if (!open_) fail("a replacement outside of any section");
    std::vector<std::size_t> places;
    for (auto from = puzzle_.lines.begin();; ++from) {
      from = std::search(from, puzzle_.lines.end(), removed_.begin(), removed_.end());
      if (from == puzzle_.lines.end()) break;
      places.push_back(static_cast<std::size_t>(from - puzzle_.lines.begin()));
    }
    if (places.size() != 1)
      fail(fmt::format("the lines to replace, from \"{}\" on, are in the puzzle {} times, not once", removed_[0],
                       places.size()));
    attempt_.changes.push_back({places[0] + 1, std::move(removed_), std::move(added_)});
    removed_.clear();
    added_.clear();
  }

  void finish_attempt() {
    if (!open_) return;
    attempt_.text = joined(changed(), "\n") + "\n";
    if (attempt_.kind != Attempt::Kind::starter && lines_of(attempt_.text) == puzzle_.lines)
      fail(fmt::format("\"{}\" replaces nothing", attempt_.words));
    attempts_.all.push_back(std::move(attempt_));
    open_ = false;
  }

  /// The puzzle's lines with the replacements, the last of which is made first: line numbers are the puzzle's.
  Lines changed() {
    std::vector<Change>& changes = attempt_.changes;
    std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.line < b.line; });
    Lines lines = puzzle_.lines;
    std::size_t end = lines.size() + 1;
    for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
      if (change->line + change->removed.size() > end) fail("two replacements of the same line");
      end = change->line;
      const auto at = lines.begin() + static_cast<std::ptrdiff_t>(change->line - 1);
      const auto after = lines.erase(at, at + static_cast<std::ptrdiff_t>(change->removed.size()));
      lines.insert(after, change->added.begin(), change->added.end());
    }
    return lines;
  }

  const Puzzle& puzzle_;
  const Lines lines_;
  std::size_t at_ = 0;
  Attempts attempts_;
  Attempt attempt_;
  bool open_ = false;
  Lines removed_, added_;
};

/// "" if this is the verdict that the attempt must get.
std::string compare(const Attempt& attempt, const Verdict& verdict) {
  const bool must_pass = attempt.kind == Attempt::Kind::solution || attempt.kind == Attempt::Kind::right;
  std::string problem;
  if (verdict.solved() != must_pass)
    problem = must_pass ? "it must be solved, and is not:" : "it must not be solved, and is";
  for (const std::string& words : attempt.says)
    if (problem.empty() && verdict.text().find(words) == std::string::npos)
      problem = fmt::format("what is said lacks \"{}\":", words);
  if (problem.empty()) return "";
  for (const std::string& line : verdict.said) problem += "\n      " + line;
  return problem;
}

struct Task {
  const Puzzle* puzzle;
  const Attempt* attempt;
};

class Bank {
 public:
  Bank(const Workshop& workshop, bool verbose) : workshop_(workshop), verbose_(verbose) {}

  void add(const fs::path& original) {
    try {
      auto puzzle = std::make_unique<Puzzle>(read_puzzle(workshop_.root(), original));
      auto attempts = std::make_unique<Attempts>(read_attempts(*puzzle));
      const Lines problems = form_problems(*puzzle, *attempts, workshop_.root());
      for (const std::string& problem : problems) complain(puzzle->id(), "form", problem);
      for (const Attempt& attempt : attempts->all) tasks_.push_back({puzzle.get(), &attempt});
      puzzles_.push_back(std::move(puzzle));
      attempts_.push_back(std::move(attempts));
    } catch (const BadPuzzle& bad) {
      complain(original.filename().string(), "form", bad.what());
    }
  }

  void judge_all(unsigned jobs) {
    grader::in_parallel(jobs, tasks_.size(), [&](std::size_t i) { judge_one(tasks_[i]); });
  }

  bool summary() {
    std::sort(seconds_.begin(), seconds_.end());
    const double median = seconds_.empty() ? 0 : seconds_[seconds_.size() / 2];
    std::printf("%zu puzzles, %zu attempts, %zu not as expected; judged in %.2f s (median), %.2f s at most\n",
                puzzles_.size(), tasks_.size(), bad_, median, seconds_.empty() ? 0 : seconds_.back());
    return bad_ == 0 && !puzzles_.empty();
  }

 private:
  void complain(const std::string& id, const std::string& what, const std::string& problem) {
    ++bad_;
    std::printf("FAIL  %-6s %s\n      %s\n", id.c_str(), what.c_str(), problem.c_str());
    std::fflush(stdout);
  }

  void judge_one(const Task& task) {
    const char* kind = name(task.attempt->kind);
    const std::string what = task.attempt->words == kind ? kind : fmt::format("{}: {}", kind, task.attempt->words);
    std::string problem;
    Verdict verdict;
    const auto started = std::chrono::steady_clock::now();
    try {
      verdict = judge(*task.puzzle, task.attempt->text, workshop_);
      problem = compare(*task.attempt, verdict);
    } catch (const std::exception& error) {
      problem = error.what();
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    const std::lock_guard lock(printing_);
    seconds_.push_back(seconds);
    if (!problem.empty()) return complain(task.puzzle->id(), what, problem);
    std::printf("ok    %-6s %-60.60s %-8s %5.2f s\n", task.puzzle->id().c_str(), what.c_str(),
                learn::name(verdict.step), seconds);
    if (verbose_)
      for (const std::string& line : verdict.said) std::printf("      %s\n", line.c_str());
    std::fflush(stdout);
  }

  const Workshop& workshop_;
  const bool verbose_;
  std::vector<std::unique_ptr<Puzzle>> puzzles_;
  std::vector<std::unique_ptr<Attempts>> attempts_;
  std::vector<Task> tasks_;
  std::mutex printing_;
  std::vector<double> seconds_;
  std::size_t bad_ = 0;
};

}  // namespace

const Attempt* Attempts::solution() const {
  for (const Attempt& attempt : all)
    if (attempt.kind == Attempt::Kind::solution) return &attempt;
  return nullptr;
}

Attempts read_attempts(const Puzzle& puzzle) { return AttemptsReader(puzzle).read(); }

Lines form_problems(const Puzzle& puzzle, const Attempts& attempts, const fs::path& root) {
  Lines problems;
  const auto require = [&](bool holds, const std::string& what) {
    if (!holds) problems.push_back(what);
  };
  const auto count = [&](Attempt::Kind kind) {
    return std::count_if(attempts.all.begin(), attempts.all.end(), [=](const Attempt& a) { return a.kind == kind; });
  };
  std::string gpu_problem;
  try {
    with_records(puzzle.gpu, root);
  } catch (const std::runtime_error& error) {
    gpu_problem = error.what();
  }
  require(grader::read_file(puzzle.file) == grader::read_file(puzzle.original),
          puzzle.shown_file() + " is not the same as its original in tests/");
  require(puzzle.hints.size() == 3, fmt::format("there are {} hints, not 3", puzzle.hints.size()));
  require(puzzle.goal.size() <= 240, fmt::format("the goal has {} characters, more than 240", puzzle.goal.size()));
  require(!puzzle.notice.empty(), "there is no Notice");
  require(gpu_problem.empty(), "GPU: " + gpu_problem);
  require(puzzle.kind != Kind::predict || puzzle.beliefs.size() >= 3,
          "a puzzle to predict has three lines If N: or more");
  require(count(Attempt::Kind::solution) == 1, "there is not exactly one # solution");
  require(count(Attempt::Kind::starter) == 1, "there is no # starter section (with what must be said of it)");
  require(count(Attempt::Kind::wrong) >= 3, "there are fewer than 3 wrong attempts");
  for (const Attempt& a : attempts.all)
    if (a.kind == Attempt::Kind::wrong || a.kind == Attempt::Kind::starter)
      require(!a.says.empty(), fmt::format("\"{}\" has no says: line", a.words));
  return problems;
}

namespace {

/// The originals of these chapters and puzzles, "00" and "03-2"; all where none is named.
std::vector<fs::path> chosen_originals(const fs::path& root, const std::vector<std::string>& words) {
  std::vector<fs::path> chosen = find_originals(root);
  std::erase_if(chosen, [&](const fs::path& original) {
    const std::string chapter = original.parent_path().parent_path().filename().string();
    const int number = std::atoi(original.filename().c_str());
    return !words.empty() && std::none_of(words.begin(), words.end(), [&](const std::string& word) {
      const auto id = parse_id(word);
      return id ? chapter.starts_with(id->first) && number == id->second : chapter.starts_with(word);
    });
  });
  return chosen;
}

}  // namespace

bool check_bank(const Workshop& workshop, const std::vector<std::string>& chapters, unsigned jobs, bool verbose) {
  Bank bank(workshop, verbose);
  for (const fs::path& original : chosen_originals(workshop.root(), chapters)) bank.add(original);
  bank.judge_all(jobs);
  return bank.summary();
}

void write_attempts(const fs::path& root, const std::vector<std::string>& chapters, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK) != 0)
    throw std::invalid_argument(fmt::format("--attempts: the folder {} cannot be written: {}", folder.string(),
                                            error ? error.message() : std::strerror(errno)));
  for (const fs::path& original : chosen_originals(root, chapters)) {
    const Puzzle puzzle = read_puzzle(root, original);
    std::map<Attempt::Kind, int> count;
    fs::create_directories(folder / puzzle.id());
    for (const Attempt& attempt : read_attempts(puzzle).all) {
      const bool one = attempt.kind == Attempt::Kind::starter || attempt.kind == Attempt::Kind::solution;
      const std::string file =
          (folder / puzzle.id() / name(attempt.kind)).string() + (one ? "" : fmt::format("-{}", ++count[attempt.kind]));
      write_file_atomically(file + ".cu", attempt.text);
      write_file_atomically(file + ".says", joined(attempt.says, "\n") + "\n");
    }
  }
}

}  // namespace tilewise::learn
