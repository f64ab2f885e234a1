// grade NN --class DIR: a table of all submissions in a folder. Each is graded by a grader of its own, so that nothing
// that happens to one touches another.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "grader.hpp"
#include "tools.hpp"

namespace tilewise::grader {

namespace fs = std::filesystem;

namespace {

struct Submission {
  std::string student;
  fs::path file;
  std::string remark{};  ///< why there are no points, if so
  bool graded = false;
  double score = 0;
  std::vector<double> points = {};  ///< of each task
};

/// DIR/student/homework.cu and DIR/student.cu.
std::vector<Submission> submissions(const fs::path& folder) {
  std::vector<Submission> all;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    std::error_code error;
    if (name.front() == '.') continue;
    if (entry.is_directory(error)) {
      all.push_back({.student = name, .file = entry.path() / "homework.cu"});
    } else if (entry.path().extension() == ".cu") {
      all.push_back({.student = entry.path().stem().string(), .file = entry.path()});
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.student < b.student; });
  return all;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Of what a compiler said: the first line with an error.
std::string first_error(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find("error:") != std::string::npos) return line;
  return first_line(text);
}

void grade_one(const std::string& chapter, const std::string& program, const std::string& verdict, Submission& s) {
  std::error_code error;
  if (fs::is_symlink(s.file, error)) return void(s.remark = "a link, not a file");
  if (!fs::exists(s.file, error)) return void(s.remark = "there is no " + s.file.filename().string());
  if (!fs::is_regular_file(s.file, error)) return void(s.remark = "not a file");
  if (access(s.file.c_str(), R_OK) != 0) return void(s.remark = "cannot be read");
  const Environment environment = inherited({"PATH", "TMPDIR", "HOME", "TILEWISE_CXX", "CCACHE_DIR", "LC_ALL"});
  const ChildResult r = run_child({program, chapter, "--file", s.file.string(), "--json", verdict, "--jobs", "1"},
                                  environment, "", {.wall_seconds = 600, .cage = Cage::none});
  const nlohmann::ordered_json j = nlohmann::ordered_json::parse(std::ifstream(verdict), nullptr, false);
  if ((r.code != 0 && r.code != 1) || !j.is_object()) {
    s.remark = r.timed_out ? "not graded within ten minutes" : "not graded: " + first_line(r.output);
    return;
  }
  s.graded = true;
  s.score = j.value("score", 0.0);
  for (const auto& task : j.at("tasks")) s.points.push_back(task.value("points", 0.0));
  if (j.contains("refused")) s.remark = "refused: " + j.value("refused", "");
  if (j.contains("compiler")) s.remark = "does not compile: " + first_error(j.value("compiler", ""));
}

/// As one cell of a CSV file (RFC 4180). A name that a spreadsheet would take for a formula is none.
std::string cell(std::string text) {
  if (!text.empty() && std::string("=+-@").find(text[0]) != std::string::npos) text.insert(0, "'");
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace

bool grade_class(const std::string& chapter, const std::string& folder, const std::string& csv, unsigned jobs,
                 const std::string& program, bool unsafe) {
  if (!fs::is_directory(folder)) throw std::invalid_argument("--class: there is no folder " + folder);
  std::vector<Submission> all = submissions(folder);
  if (all.empty())
    throw std::invalid_argument("--class: " + folder + " has neither STUDENT/homework.cu nor STUDENT.cu");
  std::ofstream table;
  if (!csv.empty()) {
    table.open(csv);
    if (!table) throw std::invalid_argument("--csv: cannot write " + csv);
  }
  const std::vector<Rubric> rubrics = read_rubrics(homework_folder(chapter));
  std::size_t width = 7;
  for (const Submission& s : all) width = std::max(width, s.student.size());

  std::string head = fmt::format("{:<{}}  score", "student", width);
  for (const Rubric& r : rubrics) head += "  " + r.task;
  std::puts(head.c_str());
  const TemporaryFolder work;

  // Lines appear in order, each as soon as all before it are there.
  std::vector<char> done(all.size());
  std::size_t printed = 0;
  std::mutex printing;
  const auto print = [&](const Submission& s) {
    std::string line = fmt::format("{:<{}}", s.student, width);
    line += s.graded ? fmt::format("  {:>5.1f}", s.score) : "      -";
    for (std::size_t i = 0; i < rubrics.size(); ++i)
      line += fmt::format("  {:>{}}", i < s.points.size() ? fmt::format("{:.1f}", s.points[i]) : "-",
                          rubrics[i].task.size());
    std::puts((line + (s.remark.empty() ? "" : "  " + s.remark)).c_str());
    std::fflush(stdout);
  };
  std::atomic<std::size_t> next{0};
  const auto worker = [&] {
    for (std::size_t i; (i = next++) < all.size();) {
      grade_one(chapter, program, work.file(fmt::format("{}.json", i)), all[i]);
      const std::lock_guard lock(printing);
      done[i] = 1;
      for (; printed < all.size() && done[printed]; ++printed) print(all[printed]);
    }
  };
  std::vector<std::future<void>> workers;
  for (unsigned j = 1; j < jobs; ++j) workers.push_back(std::async(std::launch::async, worker));
  worker();
  for (auto& w : workers) w.get();

  std::size_t graded = 0;
  double sum = 0;
  for (const Submission& s : all) graded += s.graded, sum += s.score;
  std::puts(fmt::format("{} submissions, {} graded, mean {:.1f}", all.size(), graded, graded ? sum / double(graded) : 0)
                .c_str());
  if (table.is_open()) {
    table << "student,score";
    for (const Rubric& r : rubrics) table << ',' << cell(r.task);
    table << ",remark\r\n";
    for (const Submission& s : all) {
      table << cell(s.student) << ',' << (s.graded ? fmt::format("{:.1f}", s.score) : "");
      for (std::size_t i = 0; i < rubrics.size(); ++i)
        table << ',' << (i < s.points.size() ? fmt::format("{:.1f}", s.points[i]) : "");
      table << ',' << cell(s.remark) << "\r\n";
    }
    table.close();
    if (!table) throw std::runtime_error("cannot write " + csv);
  }
  return graded == all.size();
}

}  // namespace tilewise::grader
