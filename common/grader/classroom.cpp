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
  bool in_folder = false;  ///< of the student's own
  std::string remark{};    ///< why there are no points, if so
  std::string text{};      ///< what the student is told
  bool graded = false, our_fault = false;
  double score = 0;
  std::vector<double> points = {};  ///< of each task
};

/// What systems and editors add to folders and archives.
bool is_hidden(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.front() == '.' || name == "__MACOSX";
}

/// What lies beside submissions and is none: a teacher's notes and lists, and tables of earlier runs.
bool is_note(const fs::path& path) {
  static const std::set<std::string> endings{".csv", ".html", ".json", ".log", ".md", ".txt"};
  return endings.count(path.extension().string()) > 0;
}

/// What this run writes, when it ran here before.
bool is_output(const fs::path& path, const ClassOptions& options) {
  std::error_code none;
  for (const std::string& made : {options.csv, options.feedback, options.parts})
    if (!made.empty() && fs::equivalent(path, made, none)) return true;
  return false;
}

/// "a.cu, b.cu, c.cu and 2 more".
std::string some_of(std::vector<std::string> names) {
  constexpr std::size_t kShown = 3;
  std::sort(names.begin(), names.end());
  const std::size_t more = names.size() > kShown ? names.size() - kShown : 0;
  names.resize(names.size() - more);
  return fmt::format("{}", fmt::join(names, ", ")) + (more ? fmt::format(" and {} more", more) : "");
}

/// All files of a folder that are named like CUDA files, as Gradescope's run_autograder finds them. Links don't count:
/// one could lead to the solution.
std::vector<std::string> cuda_files(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error, none;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (is_hidden(at->path()))
      at.disable_recursion_pending();
    else if (at->path().extension() == ".cu" && fs::is_regular_file(at->symlink_status(none)))
      files.push_back(at->path().lexically_relative(folder).string());
  }
  return files;
}

/// Of a folder without homework.cu and without a single other .cu file: what is there instead.
std::string what_is_there(const fs::path& folder, const std::vector<std::string>& cuda) {
  if (!cuda.empty()) return "there is no homework.cu but " + some_of(cuda) + ": one .cu file is expected";
  std::vector<std::string> names;
  std::error_code error, none;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error))
    if (!is_hidden(at->path()))
      names.push_back(at->path().filename().string() + (at->is_symlink(none)     ? " (a link)"
                                                        : at->is_directory(none) ? "/"
                                                                                 : ""));
  if (error) return "the folder cannot be read: " + error.message();
  return names.empty() ? "there is no homework.cu: the folder is empty"
                       : "there is no homework.cu and no other .cu file but " + some_of(names);
}

/// DIR/student: homework.cu, or the one .cu file that was handed in under another name.
Submission of_folder(const fs::directory_entry& entry) {
  std::error_code none;
  Submission s{.student = entry.path().filename().string(), .file = entry.path() / "homework.cu", .in_folder = true};
  if (entry.is_symlink(none)) {
    s.remark = "a link, not a folder";
  } else if (!fs::exists(fs::symlink_status(s.file, none))) {
    const std::vector<std::string> cuda = cuda_files(entry.path());
    if (cuda.size() == 1)
      s.file = entry.path() / cuda[0];
    else
      s.remark = what_is_there(entry.path(), cuda);
  }
  return s;
}

/// DIR/student.cu; what has another name has a line that says so.
Submission of_file(const fs::path& path) {
  Submission s{.student = path.stem().string(), .file = path};
  if (path.extension() != ".cu")
    s.remark = fmt::format("there is {}, where {}.cu or {}/homework.cu is expected", path.filename().string(),
                           s.student, s.student);
  return s;
}

struct Found {
  std::vector<Submission> all;
  std::vector<std::string> notes;  ///< files that are taken for none
};

/// All that lies in the folder. Where several things have the same student's name, they are as many students.
Found submissions(const fs::path& folder, const ClassOptions& options) {
  Found found;
  std::vector<Submission>& all = found.all;
  std::map<std::string, int> times;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::error_code error;
    if (is_hidden(entry.path()) || is_output(entry.path(), options)) continue;
    const bool is_folder = entry.is_directory(error);
    if (!is_folder && is_note(entry.path())) {
      found.notes.push_back(entry.path().filename().string());
      continue;
    }
    all.push_back(is_folder ? of_folder(entry) : of_file(entry.path()));
    ++times[all.back().student];
  }
  for (Submission& s : all)
    if (times[s.student] > 1) s.student = s.in_folder ? s.student + "/" : s.file.filename().string();
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.student < b.student; });
  return found;
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

/// Of a verdict on a file that compiles: with the function, there are points for that.
std::string why_no_points(const nlohmann::ordered_json& verdict, const fs::path& file) {
  if (read_file(file).find_first_not_of(" \t\r\n") == std::string::npos) return "the file is empty";
  std::string said;
  for (const auto& task : verdict.at("tasks"))
    for (const auto& c : task.at("criteria")) {
      if (c.value("name", "") != "compiles") continue;
      if (c.value("points", 0.0) > 0) return "";
      // A name that is nearly right says more than the one that is wanted.
      for (const auto& note : c.at("notes").get<std::vector<std::string>>())
        if (said.empty() || (said.starts_with("the contract wants") && !note.starts_with("the contract wants")))
          said = note;
    }
  return "it has none of the functions that homework.cuh asks for" + (said.empty() ? "" : ": " + said);
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
  if (s.remark.empty() && s.score <= 0) s.remark = why_no_points(j, s.file);
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

void write_csv(const std::string& file, const std::vector<Submission>& all, const std::vector<Rubric>& rubrics) {
  std::ostringstream table;
  table << "student,score";
  for (const Rubric& r : rubrics) table << ',' << cell(r.task);
  table << ",remark\r\n";
  for (const Submission& s : all) {
    table << cell(s.student) << ',' << (s.graded ? fmt::format("{:.1f}", s.score) : "");
    for (std::size_t i = 0; i < rubrics.size(); ++i)
      table << ',' << (i < s.points.size() ? fmt::format("{:.1f}", s.points[i]) : "");
    table << ',' << cell(s.remark) << "\r\n";
  }
  write_file_atomically(file, table.str());
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
    s.remark.clear();
  }
  std::set<unsigned> there;
  unsigned of = 0;
  if (!fs::is_directory(options.parts))
    throw std::invalid_argument("--merge: there is no folder " + options.parts +
                                ": grade the parts first, with --part");
  for (const auto& entry : fs::directory_iterator(options.parts)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("part-") || entry.path().extension() != ".json") continue;
    try {
      const auto part = parse_json(read_file(entry.path()), "it");
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
    } catch (const nlohmann::ordered_json::exception&) {
      throw std::invalid_argument(
          fmt::format("--merge: {} is no part's result: grade this part again", entry.path().string()));
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
  } catch (const std::invalid_argument&) {
    throw;  // a mistake in the task: nobody is to be told that the machine is to blame
  } catch (const std::exception& why) {
    for (Submission& s : all) s.remark = std::string("not graded: ") + why.what(), s.our_fault = true;
  }
}

/// What is to be written must be writable, before an hour goes into it. (Of files, declare() in grade.cpp sees to that.)
void prepare_folders(const ClassOptions& options) {
  for (const auto& [option, made] : {std::pair{"--feedback", options.feedback}, {"--parts", options.parts}}) {
    std::error_code error;
    if (!made.empty() && !fs::is_directory(made) && !fs::create_directories(made, error))
      throw std::invalid_argument(fmt::format("{}: cannot make the folder {}: {}", option, made, error.message()));
  }
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

void require_folder(const std::string& folder) {
  if (fs::is_directory(folder)) return;
  throw std::invalid_argument(
      fs::exists(folder)
          ? fmt::format("--class: {0} is no folder: name the one that has all submissions, or grade it with --file",
                        folder)
          : "--class: there is no folder " + folder);
}

/// Below the table.
std::string summary(const std::vector<Submission>& all, const std::vector<std::string>& notes) {
  std::size_t graded = 0;
  double sum = 0;
  for (const Submission& s : all) graded += s.graded, sum += s.score;
  std::string text =
      fmt::format("{} {}, {} graded", all.size(), all.size() == 1 ? "submission" : "submissions", graded);
  if (graded > 0) text += fmt::format(", mean {:.1f}", sum / double(graded));
  if (!notes.empty()) text += "\nnot taken for submissions: " + one_line(some_of(notes));
  return text;
}

}  // namespace

int grade_class(const std::string& chapter, const std::string& folder, const ClassOptions& options) {
  require_folder(folder);
  const auto [found, notes] = submissions(folder, options);
  if (found.empty())
    throw std::invalid_argument("--class: " + folder + " has neither STUDENT/homework.cu nor STUDENT.cu");
  const std::vector<Rubric> rubrics = rubrics_of(chapter);
  const std::vector<std::string> names = part_of(feedback_names(found), options);
  std::vector<Submission> all = part_of(found, options);
  if (options.merge) read_parts(chapter, options, all);
  if (!options.merge && !fs::exists(solution_of(chapter)))
    throw std::invalid_argument("--class: there is no " + solution_of(chapter) +
                                ", and without a solution the grader can't tell whether this machine grades right");
  if (!options.merge && !all.empty()) ask_the_canary(chapter, options, all);
  prepare_folders(options);

  Screen screen(all, rubrics);
  grade_all(chapter, options, all, names, screen);

  std::puts(summary(all, notes).c_str());
  if (options.part > 0) write_part(chapter, options, all);
  if (!options.csv.empty()) write_csv(options.csv, all, rubrics);
  if (std::any_of(all.begin(), all.end(), [](const Submission& s) { return s.our_fault; })) return 3;
  return std::all_of(all.begin(), all.end(), [](const Submission& s) { return s.graded; }) ? 0 : 1;
}

}  // namespace tilewise::grader
