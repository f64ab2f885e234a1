// learn: puzzles, judged whenever they are saved.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <thread>

#include "grader/tools.hpp"
#include "learn/bank.hpp"
#include "learn/loop.hpp"
#include "learn/terminal.hpp"
#include "tilewise/arguments.hpp"

namespace {

using namespace tilewise::learn;
namespace fs = std::filesystem;

struct Arguments {
  std::string root = tilewise::installation().sources, judged, from, attempts;
  std::vector<std::string> chapters;
  bool bank = false, verbose = false, list = false, json = false;
  unsigned jobs = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  Extras extras;
};

void declare(CLI::App& app, Arguments& a) {
  app.add_option("--from", a.from,
                 "begin with this puzzle, 03-2, or with the first of this chapter, 03; else where you were");
  auto* judge =
      app.add_option("--judge", a.judged, "judge this puzzle (03-2, or its file), say what there is to say, and end");
  app.add_option("--hints", a.extras.hints, "with --judge: show so many hints")
      ->check(tilewise::whole_number(0, 3))
      ->needs(judge);
  app.add_flag("--solution", a.extras.solution, "with --judge: show the solution")->needs(judge);
  app.add_flag("--counts", a.extras.counts, "with --judge: show all counts, by the names that limits have")
      ->needs(judge);
  auto* list = app.add_flag("--list", a.list, "all puzzles, and which of them are solved");
  app.add_flag("--json", a.json, "with --list: for programs; what is not known yet is not judged")->needs(list);
  app.add_flag("--check-bank", a.bank,
               "judge all attempts of tests/NN_topic/puzzles and compare with what must be said");
  app.add_option("--attempts", a.attempts, "write all attempts into this folder, a file each");
  app.add_option("puzzles", a.chapters,
                 "with --check-bank and --attempts: chapters and puzzles, 00 03-2; all when not given");
  app.add_option("--jobs,-j", a.jobs, "with --check-bank: so many at a time")->check(tilewise::whole_number(1, 64));
  app.add_flag("--verbose", a.verbose, "with --check-bank: show what is said of each");
  app.add_option("--root", a.root, "the repository whose puzzles these are")->check(CLI::ExistingDirectory);
  app.footer(
      "Exit codes: 0 solved (with --check-bank: all as expected), 1 not, 2 bad arguments, 3 something is not in "
      "order.");
}

/// Which puzzle `word` means, or a complaint that lists what there is: those of its chapter, if it has any.
std::size_t find(const Course& course, const std::string& word) {
  if (const auto found = course.find(word)) return *found;
  const auto id = parse_id(word + (word.find('-') == std::string::npos ? "-1" : ""));
  std::string own, all;
  for (const Puzzle& p : course.puzzles()) {
    const std::string line = fmt::format("\n  {:<6} {}", p.id(), p.title);
    all += line;
    if (id && p.chapter.starts_with(id->first)) own += line;
  }
  if (own.empty()) throw std::invalid_argument("there is no puzzle " + word + ". There are:" + all);
  throw std::invalid_argument(
      fmt::format("there is no puzzle {}. Those of chapter {} are:{}\nmake puzzles lists all.", word, id->first, own));
}

int run(const Arguments& a) {
  const Workshop workshop(fs::absolute(a.root).lexically_normal());
  if (a.bank) {
    if (const std::string problem = workshop.make_prelude(); !problem.empty()) throw std::runtime_error(problem);
    return check_bank(workshop, a.chapters, a.jobs, a.verbose) ? 0 : 1;
  }
  if (!a.attempts.empty()) return write_attempts(workshop.root(), a.chapters, a.attempts), 0;
  if (!a.chapters.empty())
    throw std::invalid_argument(
        fmt::format("say what to do with {0}: --from {0} begins with it (make learn FROM={0}), "
                    "--judge {0} judges it once (make puzzle-{0})",
                    a.chapters.front()));
  Course course(workshop);
  if (course.puzzles().empty()) throw std::invalid_argument("there are no puzzles in " + a.root + "/tests/*/puzzles");
  if (a.list && a.json) return print_list(course), 0;
  if (a.list) return show_table(course), 0;
  std::string word = a.judged.empty() ? a.from : a.judged;
  if (a.judged.empty() && parse_id(word + "-1")) word += "-1";  // a chapter
  const std::size_t start = word.empty() ? course.first() : find(course, word);
  if (a.judged.empty() && has_terminal()) return run_loop(course, start), 0;
  if (const std::string problem = workshop.make_prelude(); !problem.empty()) throw std::runtime_error(problem);
  Extras extras = a.extras;
  if (!parse_id(word)) extras.file = word;  // "" where it is where the learner was
  return show_once(course, start, extras) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Puzzles: small CUDA programs to write, repair, improve and predict, judged whenever they are saved.");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::cerr << "learn: " << tilewise::said_of(app, error) << '\n';
    return 2;
  }
  try {
    return run(arguments);
  } catch (const std::invalid_argument& error) {
    std::cerr << "learn: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "learn: " << error.what() << '\n';
    return 3;
  }
}
