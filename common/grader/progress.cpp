// How far the homework of all chapters is, a line each. A chapter is graded again only when something has changed that
// its verdict depends on.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "grader.hpp"
#include "places.hpp"
#include "tools.hpp"

namespace tilewise::grader {

namespace fs = std::filesystem;

namespace {

struct Fingerprint {
  void contents(const fs::path& path) {
    add(path.string());
    add(read_file(path));
  }
  /// Of a file that the build makes: when it made it.
  void stamp(const fs::path& path) {
    std::error_code none;
    add(path.string());
    add(std::to_string(fs::last_write_time(path, none).time_since_epoch().count()) + " " +
        std::to_string(fs::file_size(path, none)));
  }
  void add(const std::string& more) { text += more + '\0'; }

  std::string text;
};

std::string fingerprint(const std::string& chapter, const std::string& file) {
  Fingerprint f;
  f.contents(file);
  f.contents(installation().sources / "chapters" / chapter / "homework.cuh");
  for (const Rubric& r : rubrics_of(chapter)) f.contents(r.file);
  const Installation& here = installation();
  for (const fs::path& made : {here.homework / (chapter + ".o"), here.homework / (chapter + ".so"),
                               here.homework / "libtilewise_harness.a", fs::path(prelude_folder()) / "made",
                               here.libraries / "libtilewise_sim.a", here.programs / "simcc", here.programs / "grade"})
    f.stamp(made);
  return hash_of(f.text);
}

}  // namespace

void show_progress(const GradeOptions& options) {
  const std::string known_file = cache_folder() + "/progress.txt";
  std::map<std::string, std::string> known;  // fingerprint -> "score tasks"
  std::ifstream stream(known_file);
  for (std::string line; std::getline(stream, line);)
    if (line.size() > 17) known[line.substr(0, 16)] = line.substr(17);

  std::string remembered;
  double sum = 0;
  const auto all = chapters_with_homework();
  std::size_t longest = 0;
  for (const std::string& c : all) longest = std::max(longest, c.size());
  for (const std::string& c : all) {
    const std::string file = "chapters/" + c + "/homework.cu", key = fingerprint(c, file);
    std::string verdict = known[key];
    if (verdict.empty()) {
      const ChapterResult r = grade(c, file, options);
      std::string tasks;
      for (const TaskResult& t : r.tasks)
        tasks += fmt::format("{}{} {:.0f}", tasks.empty() ? "" : ", ", t.task, t.points);
      verdict = fmt::format("{:.6g} {}", r.score(),
                            !r.refused.empty()       ? "refused: " + r.refused
                            : !r.unsupported.empty() ? "not supported: " + r.unsupported
                            : !r.compiler.empty()    ? "does not compile"
                                                     : tasks);
    }
    remembered += key + " " + verdict + "\n";
    double score = 0;
    std::istringstream words(verdict);
    std::string remark;
    words >> score >> std::ws;
    std::getline(words, remark);
    const auto filled = static_cast<std::size_t>(score / 5);
    fmt::print("  {:<{}} {:>3.0f} / 100  [{}{}]  {}\n", c, longest, score, std::string(filled, '#'),
               std::string(20 - filled, '.'), remark);
    std::fflush(stdout);
    sum += score;
  }
  fmt::print("  {:<{}} {:>3.0f} / 100\n", "all", longest, all.empty() ? 0 : sum / static_cast<double>(all.size()));
  std::ofstream(known_file) << remembered;  // not being able to write it costs time only
}

}  // namespace tilewise::grader
