#include "learn/loop.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <future>
#include <set>

#include "grader/tools.hpp"
#include "learn/record.hpp"
#include "learn/screen.hpp"
#include "learn/terminal.hpp"
#include "learn/watch.hpp"

namespace tilewise::learn {

namespace fs = std::filesystem;

namespace {

/// What the puzzle `i` looks like, but for what only the loop knows.
View view_of(const Course& course, std::size_t i) {
  View v;
  v.puzzle = &course.puzzles()[i];
  v.place = i;
  v.of = course.puzzles().size();
  v.solved = course.solved();
  // Of a starter that stopped on the way, the counts are those of fewer launches.
  if (const auto starter = course.known(i, v.puzzle->text()); starter && starter->step >= Step::limit)
    v.before = starter->counts;
  try {
    v.gpu = with_records(v.puzzle->gpu, course.workshop().root());
  } catch (const std::runtime_error&) {  // no such record here: the check of all puzzles says so
  }
  if (const auto next = course.next_unsolved(i); next && *next != i)
    v.next = course.puzzles()[*next].id() + ", " + course.puzzles()[*next].title;
  return v;
}

std::vector<Change> solution_of(const Puzzle& puzzle) {
  const Attempts attempts = read_attempts(puzzle);
  const Attempt* solution = attempts.solution();
  return solution ? solution->changes : std::vector<Change>{};
}

std::vector<Entry> entries_of(const Course& course) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < course.puzzles().size(); ++i)
    entries.push_back({&course.puzzles()[i], course.state_of(i)});
  return entries;
}

bool is_ready(const std::future<void>& job) {
  return job.valid() && job.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

class Loop {
 public:
  Loop(Course& course, std::size_t start)
      : course_(course), at_(start), watch_(course.puzzles()[start].file), colour_(wants_colour()) {
    open(start);
  }

  void run() {
    while (!done_ && !terminal_->ends()) {
      if (terminal_->resized()) changed_ = true;
      if (std::exchange(changed_, false)) draw();
      press(terminal_->key(kPauseMs));
      look_at_file();
      look_at_judge();
      work_in_background();
    }
  }

  /// Gives the terminal back.
  void leave() {
    terminal_.reset();
    std::printf("\nmake learn goes on where you were.\n");
    std::fflush(stdout);
  }

  /// Whether something is being judged.
  bool busy() const { return judging_.valid() || background_.valid(); }

 private:
  static constexpr int kPauseMs = 25;
  static constexpr std::size_t kSoon = 8;  ///< puzzles: more than a minute's work, in which a library is built

  const Puzzle& puzzle() const { return course_.puzzles()[at_]; }

  void open(std::size_t i) {
    at_ = i;
    course_.remember(i);
    hints_ = 0;
    solution_.clear();
    asked_for_solution_ = failed_ = false;
    remark_.clear();
    if (!fs::exists(puzzle().file)) course_.reset(i);
    take_file();
  }

  /// The file as it is now: what is known about it, or what the judge will say.
  void take_file() {
    watch_ = FileWatch(puzzle().file);
    text_ = course_.text_of(at_);
    verdict_ = course_.known(at_, text_);
    changed_ = true;
    if (!verdict_) start_judging();
  }

  void start_judging() {
    changed_ = true;
    if (judging_.valid()) {
      judge_again_ = true;
      return;
    }
    judged_ = {at_, text_};
    judging_ = std::async(std::launch::async, [this, job = judged_] { judge_one(job); });
  }

  struct Job {
    std::size_t puzzle = 0;
    std::string text;
  };

  void judge_one(const Job& job) {
    if (const std::string problem = course_.workshop().make_prelude(); !problem.empty())
      throw std::runtime_error(problem);
    course_.verdict(job.puzzle, job.text);
  }

  void look_at_file() {
    const auto saved = watch_.saved();
    if (!saved) return;
    if (lines_of(*saved) == lines_of(text_)) {
      remark_ = "Saved, and nothing has changed.";
      changed_ = true;
      return;
    }
    text_ = *saved;
    remark_.clear();
    verdict_ = course_.known(at_, text_);
    changed_ = true;
    if (!verdict_)
      start_judging();
    else
      note_failure();
  }

  void look_at_judge() {
    if (!is_ready(judging_)) return;
    judging_.get();
    changed_ = true;
    if (std::exchange(judge_again_, false) || judged_.puzzle != at_ || judged_.text != text_) {
      verdict_ = course_.known(at_, text_);
      if (!verdict_) return start_judging();
    } else {
      verdict_ = course_.known(at_, text_);
    }
    note_failure();
  }

  void note_failure() {
    if (verdict_ && !verdict_->solved() && !is_starter(puzzle(), text_)) failed_ = true;
  }

  /// Counts of the starter, files that were changed while nobody looked, and what puzzles soon to come need.
  void work_in_background() {
    if (is_ready(background_)) {
      background_.get();
      changed_ = true;
    }
    if (background_.valid() || judging_.valid()) return;
    if (!puzzle().shown.empty() && !course_.known(at_, puzzle().text()))
      return start_in_background({at_, puzzle().text()});
    for (; unknown_ < course_.puzzles().size(); ++unknown_)
      if (course_.state_of(unknown_) == State::unknown)
        return start_in_background({unknown_, course_.text_of(unknown_)});
    for (std::size_t i = at_; i < std::min(at_ + kSoon, course_.puzzles().size()); ++i) {
      const std::string& text = course_.puzzles()[i].text();
      if (course_.workshop().missing_library(text).empty() || !libraries_tried_.insert(i).second) continue;
      background_ = std::async(std::launch::async, [this, text] { course_.workshop().make_libraries(text); });
      return;
    }
  }

  void start_in_background(const Job& job) {
    background_ = std::async(std::launch::async, [this, job] { judge_one(job); });
  }

  // ---- keys

  void press(const KeyPress& pressed) {
    if (pressed.key == Key::none) return;
    changed_ = true;
    if (pressed.key == Key::closed || pressed.text == 'q') {
      done_ = true;
    } else if (in_list_) {
      press_in_list(pressed);
    } else if (pressed.key == Key::enter) {
      if (verdict_ && verdict_->solved()) next();
    } else if (pressed.key == Key::text) {
      press_letter(pressed.text);
    }
  }

  void press_letter(char letter) {
    if (letter != 's') asked_for_solution_ = false;
    remark_.clear();
    switch (letter) {
      case 'h':
        return hint();
      case 'n':
        return next();
      case 'p':
        return open(at_ > 0 ? at_ - 1 : course_.puzzles().size() - 1);
      case 'l':
        in_list_ = true;
        chosen_ = at_;
        return;
      case 'r':
        return reset();
      case 's':
        return solution();
      default:
        return;
    }
  }

  void press_in_list(const KeyPress& pressed) {
    const std::size_t last = course_.puzzles().size() - 1;
    if (pressed.key == Key::down || pressed.text == 'n' || pressed.text == 'j') {
      chosen_ = std::min(chosen_ + 1, last);
    } else if (pressed.key == Key::up || pressed.text == 'p' || pressed.text == 'k') {
      chosen_ = chosen_ > 0 ? chosen_ - 1 : 0;
    } else if (pressed.key == Key::enter) {
      in_list_ = false;
      open(chosen_);
    } else if (pressed.key == Key::escape || pressed.text == 'l') {
      in_list_ = false;
    }
  }

  void hint() {
    if (hints_ < puzzle().hints.size())
      ++hints_;
    else
      remark_ = "There are no more hints. s shows the solution.";
  }

  void next() {
    const bool solved = verdict_ && verdict_->solved();
    const auto unsolved = course_.next_unsolved(at_);
    if (solved && !unsolved)
      remark_ = "All puzzles are solved.";
    else
      open(solved ? *unsolved : (at_ + 1) % course_.puzzles().size());
  }

  void reset() {
    const std::string kept = course_.reset(at_);
    take_file();
    solution_.clear();
    remark_ = kept.empty()
                  ? "The file is as it was given."
                  : fmt::format("The file is as it was given. Yours is kept: {}.", fs::path(kept).filename().string());
  }

  void solution() {
    const bool tried = failed_ || (verdict_ && verdict_->solved());
    if (!tried && !std::exchange(asked_for_solution_, true)) {
      remark_ = "Try first: change the file and save it; h gives a hint. Pressed again, s shows the solution.";
      return;
    }
    try {
      solution_ = solution_of(puzzle());
    } catch (const std::runtime_error& error) {
      remark_ = error.what();
    }
  }

  // ---- screen

  void draw() {
    const Paper paper{terminal_->columns(), terminal_->rows(), colour_};
    terminal_->show(
        joined(in_list_ ? draw_list(entries_of(course_), chosen_, paper) : learn::draw(view(), paper), "\n"));
  }

  View view() const {
    View v = view_of(course_, at_);
    v.untouched = is_starter(puzzle(), text_);
    v.judging = judging_.valid();
    if (v.judging) v.library = course_.workshop().missing_library(text_);
    v.verdict = verdict_;
    v.hints = hints_;
    v.solution = solution_;
    v.remark = remark_;
    return v;
  }

  Course& course_;
  std::optional<Terminal> terminal_{std::in_place};
  std::size_t at_;
  FileWatch watch_;
  const bool colour_;

  std::string text_;  ///< of the file when it was last read
  std::optional<Verdict> verdict_;
  std::size_t hints_ = 0;
  std::vector<Change> solution_;
  std::string remark_;
  bool failed_ = false, asked_for_solution_ = false;

  bool in_list_ = false;
  std::size_t chosen_ = 0;

  bool changed_ = true, done_ = false, judge_again_ = false;
  Job judged_;
  std::size_t unknown_ = 0;
  std::set<std::size_t> libraries_tried_;
  std::future<void> judging_, background_;
};

}  // namespace

void run_loop(Course& course, std::size_t start) {
  auto loop = std::make_unique<Loop>(course, start);
  loop->run();
  loop->leave();
  if (!loop->busy()) return;
  Bench::remove_all();  // nobody waits for what is still being judged
  _exit(0);
}

bool show_once(Course& course, std::size_t i, const Extras& extras) {
  const std::string text = extras.file.empty() ? course.text_of(i) : grader::read_file(extras.file);
  const Puzzle& puzzle = course.puzzles()[i];
  if (const std::string library = course.workshop().missing_library(text); !library.empty() && !course.known(i, text))
    std::fprintf(stderr, "The simulator's %s is built first. That takes about a minute, and only this once.\n",
                 library.c_str());
  const Verdict verdict = course.verdict(i, text);
  if (verdict.solved() && !puzzle.shown.empty()) course.verdict(i, puzzle.text());
  View v = view_of(course, i);
  v.untouched = is_starter(puzzle, text);
  v.verdict = verdict;
  v.hints = std::min(extras.hints, puzzle.hints.size());
  if (extras.solution) v.solution = solution_of(puzzle);
  v.keys = false;
  std::printf("%s\n", joined(draw(v, {80, 0, wants_colour()}), "\n").c_str());
  if (extras.counts)
    for (const auto& [name, value] : verdict.counts)
      std::printf("  %-24s %s\n", name.c_str(), count_text(value).c_str());
  return verdict.solved();
}

void show_table(Course& course) {
  course.judge_unknown();
  std::printf("%s\n", joined(draw_list(entries_of(course), std::nullopt, {80, 0, wants_colour()}), "\n").c_str());
}

void print_list(const Course& course) {
  static constexpr const char* states[] = {"untouched", "tried", "solved", "unknown"};
  Json list = Json::array();
  for (const Entry& e : entries_of(course))
    list.push_back({{"id", e.puzzle->id()},
                    {"chapter", e.puzzle->chapter},
                    {"title", e.puzzle->title},
                    {"kind", name(e.puzzle->kind)},
                    {"minutes", e.puzzle->minutes},
                    {"state", states[static_cast<int>(e.state)]}});
  std::printf("%s\n", list.dump(1).c_str());
}

}  // namespace tilewise::learn
