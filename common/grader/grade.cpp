// grade NN --file my.cu: grades one homework file.
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <thread>
#include <vector>

#include "cage.hpp"
#include "grader.hpp"
#include "places.hpp"
#include "rubric.hpp"
#include "sandbox.hpp"
#include "tilewise/arguments.hpp"
#include "tilewise/files.hpp"
#include "tools.hpp"

namespace {

using namespace tilewise::grader;

/// From here on, being told to end (Ctrl-C, a scheduler's SIGTERM) ends all children first and removes all files. Called
/// before there are other threads.
void end_in_order() {
  static sigset_t told;
  sigemptyset(&told);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&told, number);
  pthread_sigmask(SIG_BLOCK, &told, nullptr);
  std::thread([] {
    int number = 0;
    sigwait(&told, &number);
    end_all_children();
    TemporaryFolder::remove_all();
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &told, nullptr);
    raise(number);
  }).detach();
}

/// Changes whenever the file is saved.
std::pair<long long, long long> version_of(const std::string& file) {
  struct stat s {};
  if (stat(file.c_str(), &s) != 0) return {0, 0};
#ifdef __APPLE__
  return {s.st_mtimespec.tv_sec * 1000000000LL + s.st_mtimespec.tv_nsec, s.st_size};
#else
  return {s.st_mtim.tv_sec * 1000000000LL + s.st_mtim.tv_nsec, s.st_size};
#endif
}

/// "3/40" as 3 and 40; "" as 0 and 0.
std::pair<unsigned, unsigned> part_of(const std::string& text) {
  unsigned number = 0, of = 0;
  char rest = 0;
  if (text.empty()) return {0, 0};
  if (std::sscanf(text.c_str(), "%6u/%6u%c", &number, &of, &rest) != 2 || number < 1 || number > of)
    throw std::invalid_argument("--part: " + text + " is not like 3/40, part 3 of 40");
  return {number, of};
}

struct Arguments {
  std::string chapter, file, json, gradescope, task, folder, csv, feedback, part, parts, times;
  std::vector<std::string> kinds;
  bool watch = false, bank = false, quick = false, list = false, progress = false, unchecked = false, on_gpu = false;
  bool unsafe = false, merge = false;
  int hints = 0;
  unsigned jobs = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
};

void declare(CLI::App& app, Arguments& a) {
  app.add_option("chapter", a.chapter, "02 or 02_tiled_matmul, or the name of a task in one file");
  app.add_option("--file", a.file, "the submission; the chapter's homework.cu when not given");
  app.add_option("--task", a.task, "grade this task only");
  app.add_option("--json", a.json, "write the verdict to this file")->check(tilewise::why_not_writable, "FILE");
  app.add_option("--gradescope", a.gradescope, "write Gradescope's results.json to this file")
      ->check(tilewise::why_not_writable, "FILE");
  app.add_option("--class", a.folder, "grade all of this folder: STUDENT/homework.cu and STUDENT.cu")
      ->excludes(app.get_option("--file"))
      ->excludes(app.get_option("--task"))
      ->excludes(app.get_option("--json"))
      ->excludes(app.get_option("--gradescope"));
  app.add_option("--csv", a.csv, "with --class: write the table to this file, too")
      ->check(tilewise::why_not_writable, "FILE");
  app.add_option("--feedback", a.feedback, "with --class: write what each student is told to this folder, STUDENT.txt");
  app.add_option("--part", a.part, "with --class and --parts: grade part I of N, written I/N, for jobs of a scheduler");
  app.add_option("--parts", a.parts, "with --part and --merge: the folder of the parts' results");
  app.add_flag("--merge", a.merge, "with --class and --parts: make the table of all parts, and grade nothing");
  app.add_option("--jobs", a.jobs, "runs at a time")->check(tilewise::whole_number(1, 64));
  app.add_flag("--gpu", a.on_gpu,
               "run every shape on this machine's GPU, too, and compare times with the solution's; needs nvcc");
  app.add_option(
         "--times", a.times,
         "with --gpu: compare times at a large shape (the default), at the small one that is counted, or at none")
      ->check(tilewise::one_of({"large", "small", "none"}));
  app.add_option("--hints", a.hints, "show so many hints of a task in one file, and grade nothing")
      ->check(tilewise::whole_number(1, 9));
  app.add_flag("--watch", a.watch, "grade again whenever the file is saved");
  app.add_flag("--progress", a.progress, "one line per chapter that has homework");
  app.add_flag("--list", a.list, "the chapters that have homework");
  app.add_flag("--check-bank", a.bank,
               "grade all submissions of tests/NN_topic/homework and compare with what they expect");
  app.add_flag("--quick", a.quick, "with --check-bank: only those marked \"// quick:\"");
  app.add_option("--only", a.kinds, "with --check-bank: submissions of these kinds, with commas between them")
      ->delimiter(',')
      ->check(tilewise::one_of({"solution", "starter", "alternatives", "wrong", "hostile"}));
  app.add_flag("--unchecked", a.unchecked, "skip the look at the source, to test the other defences");
  app.add_flag("--unsafe", a.unsafe,
               "grade also where this system cannot keep a submission from doing harm: for your own files");
  app.footer(
      "Exit codes: 0 full marks (with --class: all were graded), 1 less, 2 bad arguments, 3 not graded: the machine, "
      "the "
      "compiler or the grader is not in order, and says why.");
}

/// What has no effect is refused: who wrote it expects one. Modes are options that say what is done; without one, a file
/// is graded.
void check_options(const Arguments& a) {
  struct Option {
    const char* name;
    bool given;
    std::vector<std::string> modes = {""};  ///< in which it has an effect
  };
  std::string mode;
  for (const Option& m : {Option{"--list", a.list}, Option{"--progress", a.progress}, Option{"--hints", a.hints > 0},
                          Option{"--check-bank", a.bank}, Option{"--class", !a.folder.empty()}}) {
    if (!m.given) continue;
    if (!mode.empty()) throw std::invalid_argument(fmt::format("{} and {} exclude each other", m.name, mode));
    mode = m.name;
  }
  // `make homework-NAME` has these on its line whatever is asked for.
  const std::vector<std::string> also_by_make{"", "--hints"}, also_in_bank{"", "--hints", "--check-bank"};
  for (const Option& o :
       {Option{"--file", !a.file.empty(), also_by_make}, Option{"--watch", a.watch, also_by_make},
        Option{"--gpu", a.on_gpu, also_in_bank}, Option{"--task", !a.task.empty()}, Option{"--json", !a.json.empty()},
        Option{"--gradescope", !a.gradescope.empty()}, Option{"--times", !a.times.empty()},
        Option{"--unchecked", a.unchecked}, Option{"--csv", !a.csv.empty(), {"--class"}},
        Option{"--feedback", !a.feedback.empty(), {"--class"}}, Option{"--quick", a.quick, {"--check-bank"}},
        Option{"--only", !a.kinds.empty(), {"--check-bank"}}}) {
    if (!o.given || std::count(o.modes.begin(), o.modes.end(), mode) > 0) continue;
    throw std::invalid_argument(o.modes[0].empty() ? fmt::format("{} and {} exclude each other", o.name, mode)
                                                   : fmt::format("{} needs {}", o.name, o.modes[0]));
  }
  if (!a.times.empty() && !a.on_gpu) throw std::invalid_argument("--times needs --gpu");
}

void check_parts(const Arguments& a) {
  if ((!a.part.empty() || a.merge) && (a.folder.empty() || a.parts.empty()))
    throw std::invalid_argument(std::string(a.merge ? "--merge" : "--part") + " needs --class and --parts");
  if (a.merge && !a.part.empty()) throw std::invalid_argument("--merge and --part exclude each other");
  if (!a.parts.empty() && a.part.empty() && !a.merge) throw std::invalid_argument("--parts needs --part or --merge");
}

void show_hints(const std::string& name, int most) {
  const std::vector<std::string> hints = hints_of(name);
  if (hints.empty()) throw std::invalid_argument("--hints: those of a chapter are at the end of its page");
  for (int i = 0; i < std::min(most, int(hints.size())); ++i)
    std::cout << "Hint " << i + 1 << " of " << hints.size() << ": " << hints[std::size_t(i)] << '\n';
}

/// One file, with --watch again and again.
int grade_file(const std::string& chapter, const std::string& file, const Arguments& a, const GradeOptions& options) {
  const bool colour = isatty(1) && !std::getenv("NO_COLOR");
  for (;;) {
    const auto version = version_of(file);
    if (a.watch && version.first == 0) {  // an editor may take the file away before it puts it back
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      if (version_of(file).first != 0) continue;
    }
    const ChapterResult result = grade(chapter, file, options);
    std::cout << (a.watch && colour ? "\033[2J\033[H" : "") << to_text(result, colour) << std::flush;
    if (!a.json.empty()) write_json(a.json, result);
    if (!a.gradescope.empty()) write_gradescope(a.gradescope, result);
    if (!a.watch) return result.score() > 99.999 ? 0 : 1;
    std::cout << "\nWaiting for " << file << " to be saved. Ctrl-C ends.\n" << std::flush;
    while (version_of(file) == version || version_of(file).first == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

int run(const Arguments& a) {
  check_options(a);
  check_parts(a);
  if (a.list) {
    for (const std::string& c : chapters_with_homework()) std::cout << c << '\n';
    return 0;
  }
  prepare_cage();
  end_in_order();
  GradeOptions options{.task = a.task, .policy = !a.unchecked, .unsafe = a.unsafe, .jobs = a.jobs};
  check_private_folder();
  if (a.progress) return show_progress(options), 0;
  if (a.chapter.empty()) throw std::invalid_argument("say which chapter: grade 02 --file my.cu");
  const std::string chapter = find_chapter(a.chapter);
  if (a.hints > 0) return show_hints(chapter, a.hints), 0;
  std::optional<Gpu> gpu;
  if (a.on_gpu) options.gpu = &gpu.emplace(chapter, libraries_of(rubrics_of(chapter)), devices_wanted(chapter, a.task));
  options.times = a.times == "small" ? Times::small : a.times == "none" ? Times::none : Times::large;
  if (a.bank)
    return check_bank(chapter, {a.quick, {a.kinds.begin(), a.kinds.end()}, a.unsafe, options.gpu}, a.jobs) ? 0 : 1;
  const auto [number, of] = part_of(a.part);
  if (!a.folder.empty())
    return grade_class(chapter, a.folder,
                       {a.csv, a.feedback, a.jobs, tilewise::installation().programs / "grade", a.unsafe, number, of,
                        a.parts, a.merge});
  std::string file = a.file.empty() ? places_of(chapter).own_file : a.file;
  if (file[0] == '-') file = "./" + file;  // not an option, for those that get it
  return grade_file(chapter, file, a, options);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Grades homework: compiles one file, runs it on shapes known and hidden, looks at findings and counts.");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::cerr << "grade: " << tilewise::said_of(app, error) << '\n';
    return 2;
  }
  try {
    return run(arguments);
  } catch (const std::invalid_argument& error) {
    std::cerr << "grade: " << one_line(error.what()) << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "grade: not graded: " << one_line(error.what()) << '\n';
    if (!arguments.json.empty()) write_not_graded(arguments.json, error.what());
    return 3;
  }
}
