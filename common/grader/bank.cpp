// The proof that the grader grades right: submissions of every kind, and what has to become of each.
//
// A submission in wrong/ begins with lines "// expect: TASK CRITERION PHRASE": that criterion of that task loses
// points, and what is said about the task contains the phrase. In hostile/: "// gains: POINTS PHRASE", the most that
// the best of its tasks may get (of 100) and what the verdict must say; graded twice, the second time without looking
// at the source first ("// unchecked: POINTS", when the limit is another one there).
//
// "// expect with g++: ..." holds for that compiler alone: clang++ doesn't warn of the same things. "// gains with clang++: ..." and
// "// unchecked with clang++: ..." stand in place of the others there: what is a trick with one may be nothing with the other.
//
// A submission in wrong/ also has a line "// points: TASK LEAST..MOST" for each task that it has a function of: the points, of
// 100, that it may get there. Solution and alternatives get all points, whoever is in hostile/ at most what it gains. An alternative's
// "// points with clang++: TASK LEAST..MOST" says where that compiler makes it lose some, and a comment beside it says why.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include "grader.hpp"
#include "parallel.hpp"

namespace tilewise::grader {

namespace fs = std::filesystem;

namespace {

struct Entry {
  std::string kind;  // starter, solution, alternatives, wrong, hostile
  fs::path file;
  bool policy = true;
};

std::vector<std::vector<std::string>> headers(const fs::path& file, const std::string& key) {
  std::ifstream stream(file);
  std::vector<std::vector<std::string>> found;
  for (std::string line; std::getline(stream, line) && line.starts_with("//");) {
    const std::string prefix = "// " + key + ": ";
    if (!line.starts_with(prefix)) continue;
    std::istringstream words(line.substr(prefix.size()));
    std::vector<std::string> parts;
    for (std::string w; words >> w;) parts.push_back(w);
    found.push_back(parts);
  }
  return found;
}

std::string rest(const std::vector<std::string>& words, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < words.size(); ++i) text += (i > from ? " " : "") + words[i];
  return text;
}

/// "" if whoever solves it need only add lines: the solution has all lines of the starter, in order, but for the TODOs.
std::string only_adds(const fs::path& starter, const fs::path& solution) {
  std::ifstream from(starter), to(solution);
  std::string line, there;
  std::getline(from, line), std::getline(to, there);  // the first lines say what the files are
  bool code = false;
  while (std::getline(from, line)) {
    code = code || line.starts_with("#include");
    if (!code || line.empty() || line.find("TODO") != std::string::npos) continue;
    do {
      if (!std::getline(to, there)) return "the solution changes or lacks this line of the starter: " + line;
    } while (there != line);
  }
  return "";
}

std::string warnings_text(const ChapterResult& r) {
  std::string text;
  for (const std::string& line : r.warnings) text += line + "\n";
  return text;
}

/// " matmul_at_b 60.0", for each task that the file has a function of.
std::string points_of(const ChapterResult& r) {
  std::string text;
  for (const TaskResult& t : r.tasks)
    if (t.find("compiles")->summary != "the file does not have this function")
      text += fmt::format(" {} {:.1f}", t.task, t.of > 0 ? 100 * t.points / t.of : 0);
  return text;
}

/// Of "3..60": the least and the most.
std::optional<std::pair<double, double>> points_range(const std::string& text) {
  const std::size_t dots = text.find("..");
  try {
    if (dots != std::string::npos) return std::pair{std::stod(text.substr(0, dots)), std::stod(text.substr(dots + 2))};
  } catch (const std::logic_error&) {
  }
  return std::nullopt;
}

/// "" if each task that the file has a function of gets as many points as its first lines say; none of them all.
std::string other_points(const fs::path& file, const ChapterResult& r) {
  std::map<std::string, std::pair<double, double>> ranges;
  for (const auto& words : headers(file, "points")) {
    const auto range = words.size() == 2 ? points_range(words[1]) : std::nullopt;
    if (!range) return "points: TASK LEAST..MOST";
    if (range->second >= 100) return words[0] + " may get all points, and is wrong";
    ranges[words[0]] = *range;
  }
  std::string missing;
  for (const TaskResult& t : r.tasks) {
    if (t.find("compiles")->summary == "the file does not have this function") continue;
    const double points = t.of > 0 ? 100 * t.points / t.of : 0;
    const auto range = ranges.find(t.task);
    if (range == ranges.end()) {
      if (!r.compiler.empty() || !r.refused.empty()) continue;  // then all tasks get the same
      missing += fmt::format("it has no line \"// points: {} LEAST..MOST\"; it gets {:.1f}\n", t.task, points);
      continue;
    }
    constexpr double kRounding = 0.05;
    if (points < range->second.first - kRounding || points > range->second.second + kRounding)
      return fmt::format("{} gets {:.1f} points, where {:g} to {:g} are expected\n{}", t.task, points,
                         range->second.first, range->second.second, t.text());
  }
  return !missing.empty() ? missing : ranges.empty() ? "it has no line \"// points: TASK LEAST..MOST\"" : "";
}

bool compiles_with_clang() {
  const char* named = std::getenv("TILEWISE_CXX");
  return std::string(named && *named ? named : TILEWISE_HOST_COMPILER).find("clang") != std::string::npos;
}

/// "" if the verdict is as expected.
std::string judge(const Entry& e, const ChapterResult& r) {
  if (e.kind == "starter") {
    if (!r.compiler.empty() || !r.refused.empty()) return "the starter does not compile: " + r.compiler + r.refused;
    for (const TaskResult& t : r.tasks)
      if (t.points >= 0.7 * t.of || t.find("visible")->points >= t.find("visible")->of)
        return t.task + " is solved as shipped";
    return "";
  }
  if (e.kind == "solution" || e.kind == "alternatives") {
    std::string lost = r.refused + r.compiler + (r.warnings.empty() ? "" : "the compiler warns:\n" + warnings_text(r));
    std::map<std::string, double> least;
    if (compiles_with_clang())
      for (const auto& words : headers(e.file, "points with clang++"))
        if (const auto range = points_range(words.back())) least[words[0]] = range->first;
    bool any = false;
    for (const TaskResult& t : r.tasks) {
      if (t.find("compiles")->summary == "the file does not have this function" && e.kind == "alternatives") continue;
      any = true;
      if (t.points < t.of * (least.count(t.task) ? least[t.task] / 100 : 1))
        lost += t.task + " loses points:\n" + t.text();
    }
    if (e.kind == "solution") lost += only_adds(e.file.parent_path() / "starter.cu", e.file);
    return any ? lost : "nothing was graded: " + lost;
  }
  if (e.kind == "wrong") {
    auto expected = headers(e.file, "expect");
    if (!compiles_with_clang())
      for (const auto& words : headers(e.file, "expect with g++")) expected.push_back(words);
    if (expected.empty()) return "it has no line \"// expect: TASK CRITERION PHRASE\"";
    for (const auto& words : expected) {
      if (words.size() < 3) return "expect: TASK CRITERION PHRASE";
      const TaskResult* task = nullptr;
      for (const TaskResult& t : r.tasks)
        if (t.task == words[0]) task = &t;
      if (!task || !task->find(words[1])) return "there is no task or criterion " + words[0] + " " + words[1];
      const Criterion& c = *task->find(words[1]);
      if (c.points >= c.of)
        return fmt::format("{} {} loses no points\n{}{}", words[0], words[1], task->text(), r.compiler);
      if ((task->text() + r.compiler + warnings_text(r)).find(rest(words, 2)) == std::string::npos)
        return fmt::format("what is said about {} lacks \"{}\"\n{}{}", words[0], rest(words, 2), task->text(),
                           r.compiler);
    }
    return other_points(e.file, r);
  }
  // hostile
  const auto said = [&](const std::string& key) {
    const auto by_clang = headers(e.file, key + " with clang++");
    return compiles_with_clang() && !by_clang.empty() ? by_clang : headers(e.file, key);
  };
  const auto gains = said("gains"), unchecked = said("unchecked");
  if (gains.empty()) return "it has no line \"// gains: POINTS PHRASE\"";
  const auto& rule = !e.policy && !unchecked.empty() ? unchecked[0] : gains[0];
  double most = 0;
  std::string text = r.refused + r.compiler;
  for (const TaskResult& t : r.tasks) {
    most = std::max(most, t.points);
    text += t.text();
  }
  if (most > std::stod(rule[0])) return fmt::format("it gets {} points, more than {}\n{}", most, rule[0], text);
  if (e.policy && text.find(rest(rule, 1)) == std::string::npos)
    return fmt::format("the verdict lacks \"{}\"\n{}", rest(rule, 1), text);
  return "";
}

}  // namespace

bool check_bank(const std::string& chapter, const BankOptions& bank, unsigned jobs) {
  const bool quick = bank.quick;
  const auto wanted = [&](const std::string& kind) { return bank.kinds.empty() || bank.kinds.count(kind) > 0; };
  const fs::path folder = homework_folder(chapter);
  std::vector<Entry> entries;
  for (const char* kind : {"solution", "starter"})
    if (wanted(kind)) entries.push_back({kind, folder / (std::string(kind) + ".cu")});
  for (const char* kind : {"alternatives", "wrong", "hostile"}) {
    if (!wanted(kind)) continue;
    std::vector<fs::path> files;
    std::error_code none;
    for (const auto& f : fs::directory_iterator(folder / kind, none))
      if (f.path().extension() == ".cu") files.push_back(f.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& f : files) {
      if (quick && headers(f, "quick").empty()) continue;
      entries.push_back({kind, f});
      if (std::string(kind) == "hostile" && !quick) entries.push_back({kind, f, false});
    }
  }
  std::atomic<int> failed{0};
  std::mutex printing;
  in_parallel(jobs, entries.size(), [&](std::size_t i) {
    const Entry& e = entries[i];
    std::string problem;
    ChapterResult r;
    try {
      GradeOptions options;
      options.policy = e.policy;
      options.unsafe = bank.unsafe;
      options.gpu = bank.gpu;
      options.times = Times::none;
      r = grade(chapter, e.file.string(), options);
      problem = judge(e, r);
    } catch (const std::exception& error) {
      problem = error.what();
    }
    const std::lock_guard lock(printing);
    std::printf("%s  %-13s %-44s %5.1f s %s\n", problem.empty() ? "ok  " : "FAIL", e.kind.c_str(),
                (e.file.filename().string() + (e.policy ? "" : " (unchecked)")).c_str(), r.seconds,
                points_of(r).c_str());
    if (!problem.empty()) {
      ++failed;
      std::printf("%s\n", problem.c_str());
    }
    std::fflush(stdout);
  });
  std::printf("%s: %zu submissions, %d not as expected\n", chapter.c_str(), entries.size(), failed.load());
  return failed == 0;
}

}  // namespace tilewise::grader
