#include "grader.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>

#include "cage.hpp"
#include "case.hpp"
#include "checked_calls.hpp"
#include "early_code.hpp"
#include "gpu.hpp"
#include "judge_task.hpp"
#include "own_names.hpp"
#include "places.hpp"
#include "policy.hpp"
#include "task.hpp"
#include "tools.hpp"
#include "warnings.hpp"

namespace tilewise::grader {

namespace fs = std::filesystem;

namespace {

#ifdef TILEWISE_CAN_POISON
constexpr const char* kPoisonedVariables = "-ftrivial-auto-var-init=pattern";
#else
constexpr const char* kPoisonedVariables = "-Wuninitialized";
#endif

/// How many devices the shapes have that are run on a GPU.
int devices_wanted(const Rubric& r, const Task& task) {
  std::vector<Sizes> shapes = r.hidden();
  shapes.insert(shapes.end(), r.visible.begin(), r.visible.end());
  int most = 1;
  for (const Sizes& s : shapes) most = std::max(most, task.for_timing(s, 1).devices);
  return most;
}

}  // namespace

// ---------------------------------------------------------------- the whole file

const Criterion* TaskResult::find(const std::string& criterion) const {
  for (const Criterion& c : criteria) {
    if (c.name == criterion) return &c;
  }
  return nullptr;
}

std::string TaskResult::text() const {
  std::string out;
  for (const Criterion& c : criteria) {
    out += c.name + ": " + c.summary + "\n";
    for (const std::string& n : c.notes) out += n + "\n";
  }
  return out;
}

double ChapterResult::score() const {
  double sum = 0, of = 0;
  for (const TaskResult& t : tasks) {
    sum += t.weight * (t.of > 0 ? t.points / t.of : 0);
    of += t.weight;
  }
  return of > 0 ? 100 * sum / of : 0;
}

std::string homework_folder(const std::string& chapter) { return places_of(chapter).bank; }

std::vector<std::string> chapters_with_homework() {
  std::vector<std::string> list;
  const fs::path& sources = installation().sources;
  for (const auto& entry : fs::directory_iterator(sources / "chapters")) {
    const std::string name = entry.path().filename().string();
    if (fs::exists(entry.path() / "homework.cuh") && fs::exists(sources / "tests" / name / "homework"))
      list.push_back(name);
  }
  std::sort(list.begin(), list.end());
  return list;
}

std::string find_chapter(const std::string& word) {
  const auto list = chapters_with_homework();
  for (const std::string& c : list) {
    if (c == word || c.substr(0, c.find('_')) == word) return c;
  }
  if (!find_task_folder(word).empty()) return word;
  throw std::invalid_argument(
      fmt::format("there is no homework for chapter {0}, and no task {0}. Homework: {1}. Tasks: {2}", word,
                  fmt::join(list, " "), fmt::join(tasks_in_one_file(), " ")));
}

namespace {

/// What a machine that isn't in order makes tools say. A submission may make them say it, too: then the canary lives.
bool blames_machine(const std::string& line) {
  for (const char* words :
       {"No space left", "Disk quota", "error writing", "Cannot allocate memory", "out of memory", "Killed",
        "cannot execute", "cannot find 'ld'", "Input/output error", "Read-only file system", "Too many open files",
        "Resource temporarily unavailable", "internal compiler error"})
    if (line.find(words) != std::string::npos) return true;
  return line.starts_with("simcc: ");
}

/// Of a tool that failed: why, in its own words.
std::string reason_of(const ChildResult& tool) {
  if (tool.timed_out) return "it did not end within a minute";
  if (tool.signal != 0) return signal_text(tool.signal);
  std::string last = fmt::format("exit code {}", tool.code), line;
  for (std::istringstream lines(tool.output); std::getline(lines, line);) {
    if (blames_machine(line)) return line;
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace

int devices_wanted(const std::string& chapter, const std::string& task) {
  int most = 1;
  for (const Rubric& r : rubrics_of(chapter))
    if (const Task* t = task.empty() || task == r.task ? find_task(chapter, r.task) : nullptr)
      most = std::max(most, devices_wanted(r, *t));
  return most;
}

namespace {

/// What a teacher runs to see what the solution loses. (--check-bank looks at the chapters' own ones.)
std::string how_to_check(const std::string& chapter, const std::string& solution) {
  return find_task_folder(chapter).empty() ? fmt::format("`build/sim/bin/grade {} --file '{}'`", chapter, solution)
                                           : fmt::format("`make check-{}`", chapter);
}

}  // namespace

void grade_canary(const std::string& chapter, const GradeOptions& options) {
  // It has just been graded, for another one.
  static std::mutex mutex;
  static std::map<std::string, std::chrono::steady_clock::time_point> lived;
  const auto now = [] { return std::chrono::steady_clock::now(); };
  {
    const std::lock_guard lock(mutex);
    if (const auto last = lived.find(chapter); last != lived.end() && now() - last->second < std::chrono::seconds(20))
      return;
  }
  GradeOptions same = options;
  same.canary = true;
  same.gpu = nullptr;
  same.times = Times::none;
  const std::string solution = solution_of(chapter);
  if (!fs::exists(solution)) return;  // a learner's copy of a task
  const ChapterResult r = grade(chapter, solution, same);
  if (r.score() > 99.999) {
    const std::lock_guard lock(mutex);
    lived[chapter] = now();
    return;
  }
  std::string why = r.refused + r.compiler;
  for (const TaskResult& t : r.tasks)
    for (const Criterion& c : t.criteria)
      if (c.points < c.of && why.empty()) why = c.summary + (c.notes.empty() ? "" : ": " + one_line(c.notes.back()));
  why = why.substr(0, why.find('\n'));
  if (!is_teachers_own(chapter))
    throw NotGraded(fmt::format("the solution gets {:.1f} of 100 here and now ({}), so this machine is not in order",
                                r.score(), why));
  throw NotGraded(
      fmt::format("the solution gets {:.1f} of 100 here and now ({}): it may be wrong itself, or what the task asks, "
                  "which {} shows; if not, this machine is not in order",
                  r.score(), why, how_to_check(chapter, solution)));
}

namespace {

/// A submission on its way: looked at, compiled, looked at again, linked, and judged task by task. A step that returns false has
/// said why there are no points.
class Grading {
 public:
  Grading(const std::string& chapter, const std::string& file, const GradeOptions& options)
      : chapter_(chapter),
        file_(file),
        options_(options),
        places_(places_of(chapter)),
        contract_(places_.contract + "/homework.cuh"),
        prelude_(prelude_folder()),
        rubrics_(rubrics_of(chapter)),
        libraries_(libraries_of(rubrics_)) {
    result_.isolation = isolation().text;
    result_.chapter = chapter;
    result_.file = file;
  }

  ChapterResult grade() {
    const auto started = std::chrono::steady_clock::now();
    choose_tasks();
    require_what_was_built();
    require_devices();
    require_file();
    if (may_be_compiled() && compile() && has_no_forbidden_symbols() && link() && finish_on_gpu()) judge();
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    return result_;
  }

 private:
  // ---- what must be there; else an exception says what isn't

  void choose_tasks() {
    for (const Rubric& r : rubrics_) result_.weights += r.weight;
    if (options_.task.empty()) return;
    const std::size_t all = rubrics_.size();
    std::string names;
    for (const Rubric& r : rubrics_) names += (names.empty() ? "" : ", ") + r.task;
    std::erase_if(rubrics_, [&](const Rubric& r) { return r.task != options_.task; });
    if (rubrics_.empty())
      throw std::invalid_argument(
          fmt::format("--task: chapter {} has no task {}, but {}", chapter_, options_.task, names));
    if (rubrics_.size() < all) result_.only_task = options_.task;
  }

  void require_what_was_built() const {
    for (const std::string& made : {places_.object, places_.reference, harness()})
      if (!fs::exists(made))
        throw std::runtime_error(
            fmt::format("{} is not there: cmake --build --preset sim --target homework_{}", made, chapter_));
  }

  /// Shapes that want more GPUs than there are run on the simulator alone, but something must be left for the GPUs.
  void require_devices() const {
    if (!options_.gpu || options_.gpu->info().devices > 1) return;
    for (const Rubric& r : rubrics_) {
      if (const int wanted = grader::devices_wanted(chapter_, r.task); wanted > 1)
        throw NotGraded(fmt::format(
            "{} needs {} GPUs, two at least, and here is 1. Without GPU=1 (--gpu) the simulator, which has as "
            "many as are needed, grades alone",
            r.task, wanted));
    }
  }

  void require_file() const {
    if (fs::is_directory(file_))
      throw std::invalid_argument(fmt::format("--file: {} is a folder: name the .cu file in it", file_));
    if (!fs::is_regular_file(file_)) throw std::invalid_argument("there is no file " + file_);
    // Compilers go by the name, and write it into lines that are read again.
    if (fs::path(file_).extension() != ".cu")
      throw std::invalid_argument(fmt::format("{} is not named like a CUDA file: its name must end in .cu", file_));
    if (file_.find_first_of("\"\\\n") != std::string::npos)
      throw std::invalid_argument(fmt::format("{}: rename it, without quotation marks and backslashes", file_));
    if (access(file_.c_str(), R_OK) != 0) throw std::invalid_argument(fmt::format("{} cannot be read", file_));
  }

  // ---- the steps

  bool may_be_compiled() {
    if (fs::file_size(file_) > (1u << 20)) return result_.refused = "it is larger than 1 MiB", no_points("refused");
    const std::string text = read_file(file_);
    if (text.find('\0') != std::string::npos) {
      result_.compiler = "error: the file is not plain text: save it in UTF-8 (it may be in UTF-16 now)";
      return no_points("no");
    }
    return !options_.policy || !refuses(refused_text(text, libraries_, fs::absolute(file_).parent_path().string()));
  }

  bool compile() {
    const ChildResult compiled = run_tool(compile_command());
    // The look at the source comes first, whatever the compiler says: it may have been made to say something.
    if (options_.policy && fs::exists(preprocessed_) &&
        refuses(refused_source(read_file(preprocessed_), file_, contract_, prelude_ + "/prelude.h.gch")))
      return false;
    if (compiled.code != 0) return explain_compiler(compiled);
    warnings_ = warnings_of(compiled.output, file_);
    if (are_to_be_confirmed(warnings_)) {
      std::vector<std::string> again{
          simcc_, "-c", include(), "-DTILEWISE_WARNINGS_ONLY", file_, "-o", work_.file("again.o"), kPoisonedVariables};
      for (const std::string& option : warning_options()) again.push_back(option);
      keep_confirmed(warnings_, warnings_of(run_tool(again).output, file_));
    }
    return true;
  }

  std::vector<std::string> compile_command() const {
    // g++ reads what it knows after <cuda_runtime.h> from the prelude instead of the 70,000 lines themselves.
    std::vector<std::string> command{simcc_,        "-c",  include(), "--prelude", prelude_,    "--preprocessed",
                                     preprocessed_, file_, "-o",      object_,     "--homework"};
    for (const std::string& option : warning_options()) command.push_back(option);
    // Where a variable that was never given a value happens to hold 0, the result would be right: so it holds something
    // else, wherever the compiler can see to that.
    command.push_back(kPoisonedVariables);
    if (can_check_calls())
      command.insert(command.end(), {"--check-calls", fmt::format("{:#x}", mark_)});
    else
      command.push_back("--no-inline-caches");
    return command;
  }

  bool explain_compiler(const ChildResult& compiled) {
    const std::string said = without_machinery(about_own_lines(compiled.output, file_, contract_), contract_);
    if (options_.canary) throw NotGraded("the compiler does not work here: " + reason_of(compiled));
    if (said.empty() || compiled.timed_out || blames_machine(reason_of(compiled))) grade_canary(chapter_, options_);
    result_.compiler = compiled.timed_out ? "the compiler did not end within a minute" : said;
    if (result_.compiler.empty()) result_.compiler = "error: the compiler failed, and not in a line of this file";
    result_.unsupported = unsupported_in(result_.compiler);
    return no_points(result_.unsupported.empty() ? "no" : "not on the simulator: " + result_.unsupported);
  }

  /// Of the object file. Its own variables and functions get names that nobody else has.
  bool has_no_forbidden_symbols() {
    const auto look = [&] { return run_tool({"nm", "-S", object_}); };
    ChildResult symbols = look();
    if (symbols.code != 0) throw NotGraded("nm does not work here: " + reason_of(symbols));
    if (const auto names = plain_variables(symbols.output); !names.empty() && make_private(object_, names))
      symbols = look();
    if (options_.policy && refuses(refused_symbols(symbols.output, libraries_))) return false;
    if (const auto names = plain_functions(symbols.output); !names.empty() && make_private(object_, names))
      symbols = look();
    programs_.symbols = symbols.output;
    return true;
  }

  bool link() {
    if (options_.gpu)
      on_gpu_ = std::async(std::launch::async, [&] { return options_.gpu->build(file_, options_.policy, work_); });
    const ChildResult linked = run_tool(link_command());
    if (linked.code != 0) {
      if (options_.canary) throw NotGraded("the linker does not work here: " + reason_of(linked));
      grade_canary(chapter_, options_);
      result_.compiler = linked.output;
      return no_points("it does not link");
    }
    // Not a look at the source: what runs before the cage, no cage holds.
    return !has_resolvers(program_) ||
           !refuses("it has a function that the loader runs before the program begins (an ifunc's resolver)");
  }

  std::vector<std::string> link_command() const {
    // The submission last: of two functions with one name that may both be there, the first is linked.
    std::vector<std::string> command{simcc_,  harness(), places_.object, installation().libraries / "libtilewise_sim.a",
                                     object_, "-o",      program_};
    if (can_check_calls()) {
      const std::string check = work_.file("checked_calls.s");
      std::ofstream(check) << checked_call_assembly(programs_.symbols, mark_);
      // What the linker fills in is read-only when the program runs.
      command.insert(command.end(), {check, "-Wl,-z,relro,-z,now"});
    }
    return command;
  }

  bool finish_on_gpu() {
    if (!options_.gpu) return true;
    const Gpu::Built built = on_gpu_.get();
    result_.gpu = options_.gpu->info();
    if (refuses(built.refused)) return false;
    if (!built.compiler.empty()) {
      result_.compiler = "nvcc: " + built.compiler;
      return no_points("no: simcc compiles it, nvcc does not");
    }
    programs_.gpu = built.program;
    return true;
  }

  void judge() {
    constexpr std::size_t kMostLines = 10;
    programs_.simulator = program_;
    programs_.frames = warnings_.frames;
    for (const Rubric& r : rubrics_) result_.tasks.push_back(judge_task(r, chapter_, programs_, file_, options_));
    for (const CompilerWarning& w : warnings_.all) {
      if (result_.warnings.size() >= kMostLines) break;
      result_.warnings.push_back(printable(w.text));
      result_.warnings.push_back("    " + printable(w.line));
    }
  }

  // ---- no points

  bool refuses(const std::string& why) {
    result_.refused = why;
    if (!why.empty()) no_points("refused: " + why);
    return !why.empty();
  }

  /// Of any task; false.
  bool no_points(const std::string& why) {
    for (const Rubric& r : rubrics_) {
      TaskResult t{r.task, r.level, r.title, r.weight, 0, r.points.sum(), {}};
      t.criteria = {{"compiles", 0, r.points.compiles, why, {}}};
      for (const auto& [name, of] : {std::pair<const char*, double>{"visible", r.points.visible},
                                     {"hidden", r.points.hidden},
                                     {"findings", r.points.findings},
                                     {"efficiency", r.points.efficiency}})
        t.criteria.push_back({name, 0, of, "not run", {}});
      result_.tasks.push_back(std::move(t));
    }
    return false;
  }

  static std::string harness() { return installation().homework / "libtilewise_harness.a"; }
  std::string include() const { return "-I" + places_.contract; }

  const std::string &chapter_, &file_;
  const GradeOptions& options_;
  const Places places_;
  const std::string contract_, prelude_;
  std::vector<Rubric> rubrics_;
  // The file is looked at and linked once: it may contain calls that one of its tasks may make. The other tasks lose the shapes
  // on which they make them (run_case).
  const std::set<std::string> libraries_;
  const TemporaryFolder work_;
  const std::string simcc_ = installation().programs / "simcc", object_ = work_.file("submission.o"),
                    program_ = work_.file("program"), preprocessed_ = work_.file("submission.ii");
  const std::uint64_t mark_ = new_nonce();
  CompilerWarnings warnings_;
  Programs programs_;
  std::future<Gpu::Built> on_gpu_;  // after work_, which it works in
  ChapterResult result_;
};

}  // namespace

ChapterResult grade(const std::string& chapter, const std::string& file, const GradeOptions& options) {
  if (!isolation().holds && !options.unsafe)
    throw NotGraded(isolation().text +
                    ". Nothing was run, and there is no verdict. If you know what the file does (it's your own), "
                    "--unsafe grades it all the same");
  return Grading(chapter, file, options).grade();
}

}  // namespace tilewise::grader
