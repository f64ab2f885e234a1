// grade NN --class DIR: a table of all submissions in a folder. Each is graded by a grader of its own, so that nothing
// that happens to one touches another.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>

#include "grader.hpp"
#include "parallel.hpp"
#include "places.hpp"
#include "tilewise/files.hpp"
#include "tools.hpp"

namespace tilewise::grader {

namespace fs = std::filesystem;

namespace {

struct Submission {
  std::string student;  ///< as it is; shown and written by one_line()
  fs::path file;
  std::string remark{};  ///< why there are no points, if so
  std::string text{};    ///< what the student is told
  bool graded = false, our_fault = false;
  double score = 0;
  std::vector<double> points = {};  ///< of each task
};

/// DIR/student/homework.cu and DIR/student.cu. Where both are there, they are two students.
std::vector<Submission> submissions(const fs::path& folder) {
  std::vector<Submission> all;
  std::map<std::string, int> times;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    std::error_code error;
    if (name.front() == '.') continue;
    if (entry.is_directory(error)) {
      all.push_back({.student = name, .file = entry.path() / "homework.cu"});
      if (entry.is_symlink(error)) all.back().remark = "a link, not a folder";
    } else if (entry.path().extension() == ".cu") {
      all.push_back({.student = entry.path().stem().string(), .file = entry.path()});
    } else {
      continue;
    }
    ++times[all.back().student];
  }
  for (Submission& s : all)
    if (times[s.student] > 1) s.student = s.file.filename() == "homework.cu" ? s.student + "/" : s.student + ".cu";
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

std::string without(std::string text, const std::string& part) {
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos;) text.erase(at, part.size());
  return text;
}

void grade_one(const std::string& chapter, const ClassOptions& options, Submission& s) {
  std::error_code error;
  if (!s.remark.empty()) return;
  if (fs::is_symlink(s.file, error)) return void(s.remark = "a link, not a file");
  if (!fs::exists(s.file, error)) return void(s.remark = "there is no " + s.file.filename().string());
  if (!fs::is_regular_file(s.file, error)) return void(s.remark = "not a file");
  if (access(s.file.c_str(), R_OK) != 0) return void(s.remark = "cannot be read");
  // Graded by a name that nobody chose.
  const TemporaryFolder work;
  const std::string file = work.file("homework.cu"), verdict = work.file("verdict.json");
  if (!fs::copy_file(s.file, file, error)) {
    s.our_fault = true;
    return void(s.remark = "not graded: it cannot be copied to " + work.file("") + ": " + error.message());
  }
  const Environment environment = inherited({"PATH", "TMPDIR", "HOME", "TILEWISE_CXX", "CCACHE_DIR", "LC_ALL",
                                             "TILEWISE_TASKS", "TILEWISE_CACHE", "XDG_CACHE_HOME"});
  std::vector<std::string> command{options.program, chapter, "--file", file, "--json", verdict, "--jobs", "1"};
  if (options.unsafe) command.push_back("--unsafe");
  const ChildResult r =
      run_child(command, environment, "", {.wall_seconds = 600, .cage = Cage::none, .ending = Ending::by_itself});
  s.text = without(r.output, work.file(""));
  const nlohmann::ordered_json j = nlohmann::ordered_json::parse(std::ifstream(verdict), nullptr, false);
  if ((r.code != 0 && r.code != 1) || !j.is_object()) {
    // It may have been killed for want of memory; a grader that the machine has no room for is no student's fault either.
    s.our_fault = r.code != 2;
    const std::string why = first_line(without(s.text, "grade: "));
    s.remark = r.timed_out ? "not graded within ten minutes"
                           : "not graded: " + (r.signal                          ? signal_text(r.signal)
                                               : why.starts_with("not graded: ") ? why.substr(12)
                                                                                 : why);
    return;
  }
  s.graded = true;
  s.score = j.value("score", 0.0);
  for (const auto& task : j.at("tasks")) s.points.push_back(task.value("points", 0.0));
  if (j.contains("refused")) s.remark = "refused: " + j.value("refused", "");
  if (j.contains("unsupported"))
    s.remark = "not supported: " + j.value("unsupported", "");
  else if (j.contains("compiler"))
    s.remark = "does not compile: " + first_error(j.value("compiler", ""));
  s.remark = without(s.remark, work.file(""));
}

/// As one cell of a CSV file (RFC 4180), in one line. A name that a spreadsheet would take for a formula is none.
std::string cell(const std::string& words) {
  std::string text = one_line(words);
  if (!text.empty() && std::string("=+-@").find(text[0]) != std::string::npos) text.insert(0, "'");
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

/// One for each student. Names that are the same without what no file's name should have, get a number.
std::vector<std::string> feedback_names(const std::vector<Submission>& all) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const Submission& s : all) {
    std::string plain = one_line(s.student);
    for (char& c : plain)
      if (std::string("/\\:*?\"<>|'`$").find(c) != std::string::npos) c = '_';
    while (!plain.empty() && plain.back() == '_') plain.pop_back();
    if (plain.empty()) plain = "_";
    if (plain.size() > 200) plain.resize(200);
    std::string name = plain;
    for (int n = 2; !taken.insert(name).second; ++n) name = fmt::format("{}-{}", plain, n);
    names.push_back(name + ".txt");
  }
  return names;
}

std::string feedback(const Submission& s) {
  const std::string head = s.remark.empty() || s.graded ? "" : one_line(s.remark) + "\n\n";
  return head + printable(s.text);
}

void write_csv(std::ofstream& table, const std::vector<Submission>& all, const std::vector<Rubric>& rubrics) {
  table << "student,score";
  for (const Rubric& r : rubrics) table << ',' << cell(r.task);
  table << ",remark\r\n";
  for (const Submission& s : all) {
    table << cell(s.student) << ',' << (s.graded ? fmt::format("{:.1f}", s.score) : "");
    for (std::size_t i = 0; i < rubrics.size(); ++i)
      table << ',' << (i < s.points.size() ? fmt::format("{:.1f}", s.points[i]) : "");
    table << ',' << cell(s.remark) << "\r\n";
  }
}

// ---------------------------------------------------------------- parts of a class, and all together

/// A name as it is, which need not be text that JSON can hold.
std::string hex(const std::string& bytes) {
  std::string text;
  for (const unsigned char c : bytes) text += fmt::format("{:02x}", c);
  return text;
}

fs::path part_file(const ClassOptions& options, unsigned part, unsigned of) {
  return fs::path(options.parts) / fmt::format("part-{}-of-{}.json", part, of);
}

void write_part(const std::string& chapter, const ClassOptions& options, const std::vector<Submission>& some) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Submission& s : some)
    list.push_back({{"student", one_line(s.student)},
                    {"name", hex(s.student)},
                    {"graded", s.graded},
                    {"our_fault", s.our_fault},
                    {"score", s.score},
                    {"points", s.points},
                    {"remark", one_line(s.remark)},
                    {"text", printable(s.text)}});
  const nlohmann::ordered_json part{
      {"chapter", chapter}, {"part", options.part}, {"of", options.of}, {"submissions", list}};
  write_file_atomically(part_file(options, options.part, options.of).string(), part.dump(1) + "\n");
}

/// Fills in what the parts say. What none of them has was not graded.
void read_parts(const std::string& chapter, const ClassOptions& options, std::vector<Submission>& all) {
  std::map<std::string, Submission*> known;
  for (Submission& s : all) {
    known[hex(s.student)] = &s;
    s.our_fault = true;
  }
  std::set<unsigned> there;
  unsigned of = 0;
  for (const auto& entry : fs::directory_iterator(options.parts)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("part-") || entry.path().extension() != ".json") continue;
    try {
      const auto part = nlohmann::ordered_json::parse(std::ifstream(entry.path()));
      const auto number = part.at("part").get<unsigned>(), parts = part.at("of").get<unsigned>();
      if (part.at("chapter").get<std::string>() != chapter)
        throw std::invalid_argument("it is of " + part.at("chapter").get<std::string>() + ", not of " + chapter);
      if (of != 0 && parts != of) throw std::invalid_argument(fmt::format("others are of {} parts", of));
      of = parts;
      there.insert(number);
      for (const auto& graded : part.at("submissions")) {
        const auto found = known.find(graded.at("name").get<std::string>());
        if (found == known.end()) continue;  // withdrawn since
        Submission& s = *found->second;
        s.graded = graded.at("graded").get<bool>();
        s.our_fault = graded.at("our_fault").get<bool>();
        s.score = graded.at("score").get<double>();
        s.points = graded.at("points").get<std::vector<double>>();
        s.remark = graded.at("remark").get<std::string>();
        s.text = graded.at("text").get<std::string>();
      }
    } catch (const std::exception& why) {
      throw std::invalid_argument(fmt::format("--merge: {}: {}", entry.path().string(), why.what()));
    }
  }
  if (there.empty()) throw std::invalid_argument("--merge: " + options.parts + " has no part-I-of-N.json");
  std::vector<unsigned> missing;
  for (unsigned i = 1; i <= of; ++i)
    if (!there.count(i)) missing.push_back(i);
  const std::string why = missing.empty() ? "handed in after the parts were graded"
                                          : fmt::format("missing: part {} of {}", fmt::join(missing, ", "), of);
  for (Submission& s : all)
    if (s.our_fault && s.remark.empty()) s.remark = "not graded: " + why;
}

/// Where the solution doesn't get all points, no submission is to be graded.
void ask_the_canary(const std::string& chapter, const ClassOptions& options, std::vector<Submission>& all) {
  GradeOptions here;
  here.unsafe = options.unsafe;
  here.jobs = options.jobs;
  try {
    grade_canary(chapter, here);
  } catch (const std::exception& why) {
    for (Submission& s : all) s.remark = std::string("not graded: ") + why.what(), s.our_fault = true;
  }
}

/// What is to be written must be writable, before an hour goes into it.
std::ofstream prepare_outputs(const ClassOptions& options) {
  std::ofstream table;
  if (!options.csv.empty()) {
    table.open(options.csv);
    if (!table) throw std::invalid_argument("--csv: cannot write " + options.csv);
  }
  for (const auto& [option, made] : {std::pair{"--feedback", options.feedback}, {"--parts", options.parts}}) {
    std::error_code error;
    if (!made.empty() && !fs::is_directory(made) && !fs::create_directories(made, error))
      throw std::invalid_argument(fmt::format("{}: cannot make the folder {}: {}", option, made, error.message()));
  }
  return table;
}

/// Every N-th one for --part, else all of them.
template <class T>
std::vector<T> part_of(const std::vector<T>& all, const ClassOptions& options) {
  if (options.part == 0) return all;
  std::vector<T> some;
  for (std::size_t i = options.part - 1; i < all.size(); i += options.of) some.push_back(all[i]);
  return some;
}

/// The table on the screen, which grows by a line whenever the next submission is ready.
class Screen {
 public:
  Screen(const std::vector<Submission>& all, const std::vector<Rubric>& rubrics)
      : all_(all), rubrics_(rubrics), done_(all.size()) {
    for (const Submission& s : all) width_ = std::max(width_, one_line(s.student).size());
    std::string head = fmt::format("{:<{}}  {:>5}", "student", width_, "score");
    for (const Rubric& r : rubrics) head += "  " + r.task;
    std::puts(head.c_str());
  }

  void done(std::size_t i) {
    const std::lock_guard lock(mutex_);
    done_[i] = 1;
    for (; printed_ < all_.size() && done_[printed_]; ++printed_) print(all_[printed_]);
  }

 private:
  void print(const Submission& s) const {
    std::string line = fmt::format("{:<{}}", one_line(s.student), width_);
    line += s.graded ? fmt::format("  {:>5.1f}", s.score) : "      -";
    for (std::size_t i = 0; i < rubrics_.size(); ++i)
      line += fmt::format("  {:>{}}", i < s.points.size() ? fmt::format("{:.1f}", s.points[i]) : "-",
                          rubrics_[i].task.size());
    std::puts((line + (s.remark.empty() ? "" : "  " + one_line(s.remark))).c_str());
    std::fflush(stdout);
  }

  const std::vector<Submission>& all_;
  const std::vector<Rubric>& rubrics_;
  std::size_t width_ = 7, printed_ = 0;
  std::vector<char> done_;
  std::mutex mutex_;
};

/// `names`: of the files with feedback.
void grade_all(const std::string& chapter, const ClassOptions& options, std::vector<Submission>& all,
               const std::vector<std::string>& names, Screen& screen) {
  in_parallel(options.jobs, all.size(), [&](std::size_t i) {
    try {
      if (!options.merge) grade_one(chapter, options, all[i]);
      if (!options.feedback.empty())
        write_file_atomically((fs::path(options.feedback) / names[i]).string(), feedback(all[i]));
    } catch (const std::exception& why) {
      all[i].our_fault = true;
      all[i].remark += (all[i].remark.empty() ? "not graded: " : "; ") + std::string(why.what());
    }
    screen.done(i);
  });
}

}  // namespace

int grade_class(const std::string& chapter, const std::string& folder, const ClassOptions& options) {
  if (!fs::is_directory(folder)) throw std::invalid_argument("--class: there is no folder " + folder);
  std::vector<Submission> all = submissions(folder);
  if (all.empty())
    throw std::invalid_argument("--class: " + folder + " has neither STUDENT/homework.cu nor STUDENT.cu");
  std::ofstream table = prepare_outputs(options);
  const std::vector<std::string> names = part_of(feedback_names(all), options);
  all = part_of(all, options);
  if (options.merge) read_parts(chapter, options, all);
  if (!options.merge && !fs::exists(solution_of(chapter)))
    throw std::invalid_argument("--class: there is no " + solution_of(chapter) +
                                ", and without a solution the grader can't tell whether this machine grades right");
  if (!options.merge && !all.empty()) ask_the_canary(chapter, options, all);

  const std::vector<Rubric> rubrics = rubrics_of(chapter);
  Screen screen(all, rubrics);
  grade_all(chapter, options, all, names, screen);

  std::size_t graded = 0;
  double sum = 0;
  for (const Submission& s : all) graded += s.graded, sum += s.score;
  std::puts(fmt::format("{} submissions, {} graded, mean {:.1f}", all.size(), graded, graded ? sum / double(graded) : 0)
                .c_str());
  if (options.part > 0) write_part(chapter, options, all);
  if (table.is_open()) {
    write_csv(table, all, rubrics);
    table.close();
    if (!table) throw NotGraded("cannot write " + options.csv);
  }
  if (std::any_of(all.begin(), all.end(), [](const Submission& s) { return s.our_fault; })) return 3;
  return graded == all.size() ? 0 : 1;
}

}  // namespace tilewise::grader
