#include "places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>

#include "grader.hpp"
#include "one_file.hpp"
#include "tilewise/files.hpp"
#include "tools.hpp"

namespace tilewise::grader {

namespace fs = std::filesystem;

namespace {

constexpr const char* kMark = "// ---- The grader's part.";
constexpr std::size_t kLongestName = 40;  // Request::task has room for it

/// TILEWISE_TASKS; "" where it isn't set.
std::string private_folder() {
  const char* named = std::getenv("TILEWISE_TASKS");
  return named ? named : "";
}

std::vector<fs::path> task_roots() {
  const fs::path& sources = installation().sources;
  std::vector<fs::path> roots{sources / "tasks", sources / "tests/grader/tasks"};
  if (!private_folder().empty()) roots.insert(roots.begin(), private_folder());
  return roots;
}

bool is_chapter(const std::string& name) { return !name.empty() && name[0] >= '0' && name[0] <= '9'; }

/// The first line with an error; of what a compiler says, nobody needs more.
std::string line_with_error(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find("error:") != std::string::npos) return line;
  return text.substr(0, text.find('\n'));
}

std::string compiler() {
  const char* named = std::getenv("TILEWISE_CXX");
  return named && *named ? named : TILEWISE_HOST_COMPILER;
}

/// When a file was made.
std::string time_of(const fs::path& file) {
  std::error_code none;
  return std::to_string(fs::last_write_time(file, none).time_since_epoch().count());
}

/// A task in one file, and what is made of it.
class OneFile {
 public:
  OneFile(std::string name, const fs::path& folder)
      : name_(std::move(name)), folder_(fs::absolute(folder)), text_(read_file(folder_ / "task.cu")) {
    made_ = cache_folder() + "/tasks/" + name_ + "-" + hash_of(folder_.string());
  }

  Places places() const {
    return {made("contract"),
            folder_.string(),
            made("calls.cu"),
            made(name_ + ".o"),
            made(name_ + ".so"),
            made_,
            (folder_ / "homework.cu").string()};
  }

  void build() const {
    fs::create_directories(made("contract"));  // apart, since compilers look for files there
    const Lock lock(made("lock"));
    const bool fresh = read_file(made("made-of")) == fingerprint();
    if (!fresh) compile();
    load_one_file_task(name_, made(name_ + ".so"), source());
    if (fresh) return;
    write_file_atomically(made("1_" + name_ + ".json"), rubric_of_one_file(name_));
    write_file_atomically(made("made-of"), fingerprint());
  }

 private:
  std::string made(const std::string& file) const { return made_ + "/" + file; }
  std::string source() const { return (folder_ / "task.cu").string(); }

  std::string fingerprint() const {
    std::string of = text_ + compiler();
    for (const char* header : {"tilewise/task.hpp", "task.hpp", "rubric.hpp", "harness.hpp", "call_in_order.hpp"})
      of += read_file(installation().sources / "common/grader" / header);
    for (const char* program : {"simcc", "grade"}) of += time_of(installation().programs / program);
    return hash_of(of) + "\n";
  }

  /// What learners get: all lines above the mark.
  std::string contract() const {
    const std::size_t end = text_.find(kMark);
    if (end == std::string::npos)
      throw std::invalid_argument(fmt::format("{}: there is no line \"{}\"", source(), kMark));
    std::string contract = text_.substr(0, end);
    const std::string own = "#include \"tilewise/task.hpp\"";
    const std::size_t include = contract.find(own);
    if (include == std::string::npos)
      throw std::invalid_argument(fmt::format("{}: above the mark there is no line {}", source(), own));
    contract.replace(include, own.size(), "#include <cuda_runtime.h>");
    if (contract.find("launch_" + name_ + "(") == std::string::npos)
      throw std::invalid_argument(fmt::format("{0}: above the mark, launch_{1}(...) is not declared", source(), name_));
    return "#pragma once\n" + contract;
  }

  void compile() const {
    std::error_code none;
    fs::remove(made("made-of"), none);
    write_file_atomically(made("contract/homework.cuh"), contract());
    write_file_atomically(
        made("calls.cu"),
        fmt::format("// Made from {0}.\n"
                    "#include \"{1}/common/grader/call_in_order.hpp\"\n"
                    "#include \"homework.cuh\"\n\n"
                    "// Weak: a submission need not have it.\n"
                    "using Function = tilewise::grader::WithoutDefaults<decltype(launch_{2})>::Type;\n"
                    "__attribute__((weak)) Function launch_{2};\n\n"
                    "bool homework_call(const HomeworkCase& c, cudaError_t& error) {{\n"
                    "  if (!launch_{2}) return false;\n"
                    "  error = tilewise::grader::call_in_order(launch_{2}, c);\n"
                    "  return true;\n"
                    "}}\n",
                    one_line(source()), installation().sources.string(), name_));
    auto calls = std::async(std::launch::async, [&] {
      return run_tool({installation().programs / "simcc", "-I" + made("contract"), "--prelude", prelude_folder(), "-c",
                       made("calls.cu"), "-o", made(name_ + ".o")});
    });
    const std::string common = installation().sources / "common";
    std::vector<std::string> command{compiler(),
                                     "-std=c++20",
                                     "-O1",
                                     "-fPIC",
                                     "-shared",
                                     "-I" + common,
                                     "-I" + common + "/grader",
                                     "-I" + common + "/include",
                                     "-I" + installation().headers.string()};
#ifdef __APPLE__
    command.insert(command.end(), {"-undefined", "dynamic_lookup"});
#endif
    const std::string library = made(name_ + ".so");
    command.insert(command.end(), {"-x", "c++", source(), "-o", library + ".new"});
    const ChildResult reference = run_tool(command), called = calls.get();
    if (reference.code != 0)
      throw std::invalid_argument("the task does not compile: " + line_with_error(reference.output));
    fs::rename(library + ".new", library);
    if (called.code != 0)
      throw std::invalid_argument("the task's contract does not compile: " + line_with_error(called.output));
  }

  std::string name_;
  fs::path folder_;
  std::string text_, made_;
};

Places of_chapter(const std::string& chapter) {
  const Installation& here = installation();
  const std::string tests = here.sources / "tests" / chapter / "homework", built = here.homework / chapter;
  return {here.sources / "chapters" / chapter,   tests, tests + "/calls.cu", built + ".o", built + ".so", tests,
          "chapters/" + chapter + "/homework.cu"};
}

}  // namespace

Places places_of(const std::string& name) {
  if (is_chapter(name)) return of_chapter(name);
  static std::mutex mutex;
  static auto& known = *new std::map<std::string, Places>;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(name); found != known.end()) return found->second;
  const OneFile task(name, find_task_folder(name));
  task.build();
  return known[name] = task.places();
}

std::string prelude_folder() {
  if (!installation().installed) return installation().homework / "prelude";
  const fs::path simcc = installation().programs / "simcc";
  const std::string folder =
      cache_folder() + "/prelude-" + hash_of(simcc.string() + time_of(simcc) + compiler() + time_of(compiler()));
  fs::create_directories(folder);
  const Lock lock(folder + "/lock");
  // Where that fails, simcc does without, or says itself what is wrong.
  if (!fs::exists(folder + "/made") && run_tool({simcc, "--make-prelude", folder}).code == 0)
    write_file_atomically(folder + "/made", "");
  return folder;
}

std::string find_task_folder(const std::string& name) {
  if (name.empty() || name.size() > kLongestName ||
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != std::string::npos)
    return "";
  std::error_code none;
  for (const fs::path& root : task_roots())
    if (!is_chapter(name) && fs::exists(root / name / "task.cu", none)) return (root / name).string();
  return "";
}

std::vector<std::string> tasks_in_one_file() {
  std::vector<std::string> names;
  std::error_code none;
  for (const fs::path& root : task_roots())
    for (const auto& entry : fs::directory_iterator(root, none)) {
      const std::string name = entry.path().filename().string();
      if (!find_task_folder(name).empty()) names.push_back(name);
    }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void check_private_folder() {
  const fs::path folder = private_folder();
  if (folder.empty()) return;
  std::error_code error;
  const auto bad = [&](const std::string& what) {
    throw std::invalid_argument(fmt::format("TILEWISE_TASKS is {}, {}", folder.string(), what));
  };
  if (!fs::is_directory(folder, error)) bad("which is no folder");
  bool any = false;
  fs::directory_iterator entries(folder, error);
  if (error) bad("which cannot be read: " + error.message());
  const std::vector<std::string> chapters = chapters_with_homework();
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory(error)) continue;
    if (is_chapter(name) && std::find(chapters.begin(), chapters.end(), name) == chapters.end())
      bad("which has a folder " + name + ", but there is no chapter of this name with homework");
    any = any || is_chapter(name) || fs::exists(entry.path() / "task.cu", error);
  }
  if (!any) bad("which has neither a NAME/task.cu nor a chapter's folder such as 02_tiled_matmul");
}

std::string solution_of(const std::string& name) {
  const fs::path own = fs::path(private_folder()) / name / "solution.cu";
  std::error_code none;
  return !private_folder().empty() && fs::exists(own, none) ? own.string() : places_of(name).bank + "/solution.cu";
}

bool is_teachers_own(const std::string& name) {
  std::error_code none;
  if (!is_chapter(name))
    return fs::path(find_task_folder(name)).parent_path() != installation().sources / "tests/grader/tasks";
  return !private_folder().empty() && fs::exists(fs::path(private_folder()) / name, none);
}

std::vector<Rubric> rubrics_of(const std::string& name) {
  std::vector<Rubric> rubrics = read_rubrics(places_of(name).rubrics);
  if (!is_chapter(name) || private_folder().empty()) return rubrics;
  for (const Rubric& own : read_rubrics((fs::path(private_folder()) / name).string())) {
    const auto at = std::find_if(rubrics.begin(), rubrics.end(), [&](const Rubric& r) { return r.task == own.task; });
    if (at == rubrics.end())
      throw std::invalid_argument(
          fmt::format("TILEWISE_TASKS: {} is for the task {}, which {} does not have", own.file, own.task, name));
    *at = own;
  }
  return rubrics;
}

std::vector<std::string> hints_of(const std::string& name) {
  if (is_chapter(name)) return {};
  places_of(name);
  return hints_of_one_file(name);
}

}  // namespace tilewise::grader
