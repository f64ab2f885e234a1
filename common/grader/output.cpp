// A verdict as text for people, as JSON, and as Gradescope's results.json.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cage.hpp"
#include "grader.hpp"
#include "tilewise/files.hpp"
#include "tools.hpp"
#include "warnings.hpp"

namespace tilewise::grader {
namespace {

using Json = nlohmann::ordered_json;

std::string title(const std::string& criterion) {
  if (criterion == "visible") return "right, shapes you know";
  if (criterion == "hidden") return "right, hidden shapes";
  if (criterion == "findings") return "no findings";
  if (criterion == "efficiency") return "efficient, by counts";
  return criterion;
}

std::string points(double v) { return fmt::format("{:.4g}", std::floor(10 * v + 0.5) / 10); }

std::string notes_text(const Criterion& c) {
  std::string out = c.summary + "\n";
  for (const std::string& n : c.notes) out += n + "\n";
  return printable(out);
}

std::string cuda_version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

std::string milliseconds(double ms) {
  return ms < 0.1 ? fmt::format("{:.3g} us", 1e3 * ms) : fmt::format("{:.3g} ms", ms);
}

/// Beside the points: what a GPU says about time.
std::string time_text(const GpuTime& t) {
  if (t.ratio <= 0) return t.note;
  const std::string verdict =
      t.ratio > 1 ? fmt::format("{:.2f} times as long", t.ratio) : fmt::format("{:.2f} times as fast", 1 / t.ratio);
  return fmt::format("{}; the solution takes {}: {} at {}", milliseconds(t.submission_ms), milliseconds(t.solution_ms),
                     verdict, t.shape);
}

Json to_json(const ChapterResult& r) {
  Json j{{"chapter", r.chapter}, {"file", r.file},          {"score", r.score()}, {"of", 100},
         {"seconds", r.seconds}, {"isolation", r.isolation}};
  if (!r.only_task.empty()) j["only_task"] = r.only_task;
  if (!r.refused.empty()) j["refused"] = r.refused;
  if (!r.compiler.empty()) j["compiler"] = r.compiler;
  if (!r.unsupported.empty()) j["unsupported"] = r.unsupported;
  if (!r.warnings.empty()) j["warnings"] = r.warnings;
  if (r.gpu) {
    const GpuInfo& g = *r.gpu;
    j["gpu"] = {{"name", g.name},
                {"compute_capability", fmt::format("{}.{}", g.major, g.minor)},
                {"driver_cuda", cuda_version(g.driver)},
                {"nvcc_cuda", cuda_version(g.runtime)},
                {"isolation", g.isolation}};
  }
  j["tasks"] = Json::array();
  for (const TaskResult& t : r.tasks) {
    Json task{{"task", t.task},     {"level", t.level},   {"title", t.title},
              {"weight", t.weight}, {"points", t.points}, {"of", t.of}};
    task["criteria"] = Json::array();
    for (const Criterion& c : t.criteria)
      task["criteria"].push_back(
          {{"name", c.name}, {"points", c.points}, {"of", c.of}, {"summary", c.summary}, {"notes", c.notes}});
    if (t.gpu) {
      task["gpu"] = {{"visible_right", t.gpu->visible_right}, {"hidden_right", t.gpu->hidden_right}};
      if (const auto& time = t.gpu->time) {
        task["gpu"]["time"] = {{"shape", time->shape}};
        if (time->ratio > 0)
          task["gpu"]["time"].update({{"submission_ms", time->submission_ms},
                                      {"solution_ms", time->solution_ms},
                                      {"ratio", time->ratio},
                                      {"turns", time->turns}});
        else
          task["gpu"]["time"]["note"] = time->note;
      }
    }
    j["tasks"].push_back(std::move(task));
  }
  return j;
}

Json to_gradescope(const ChapterResult& r) {
  Json j{{"score", r.score()},
         {"execution_time", r.seconds},
         {"output", printable(r.refused.empty() ? r.compiler : "Refused: " + r.refused)},
         {"visibility", "visible"}};
  std::string times;
  for (const TaskResult& t : r.tasks) {
    if (t.gpu && t.gpu->time) times += fmt::format("{}: {}\n", t.task, time_text(*t.gpu->time));
  }
  if (!r.warnings.empty()) j["output"] = fmt::format("The compiler warns:\n{}\n", fmt::join(r.warnings, "\n"));
  if (!times.empty())
    j["output"] = j["output"].get<std::string>() + "Times on the " + r.gpu->name + ", which give no points:\n" + times;
  if (!r.only_task.empty())
    j["output"] = "Task " + r.only_task + " alone was graded.\n" + j["output"].get<std::string>();
  double weights = 0;
  for (const TaskResult& t : r.tasks) weights += t.weight;
  j["tests"] = Json::array();
  for (const TaskResult& t : r.tasks) {
    const double scale = weights > 0 && t.of > 0 ? 100 * t.weight / weights / t.of : 0;  // points of the chapter's 100
    for (const Criterion& c : t.criteria)
      j["tests"].push_back({{"name", t.task + ": " + title(c.name)},
                            {"score", scale * c.points},
                            {"max_score", scale * c.of},
                            {"output", notes_text(c)},
                            {"visibility", "visible"}});
  }
  return j;
}

void write_file(const std::string& file, const Json& json) {
  // Compilers quote with characters that need not be UTF-8.
  write_file_atomically(file, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace

void write_json(const std::string& file, const ChapterResult& r) { write_file(file, to_json(r)); }

void write_not_graded(const std::string& file, const std::string& why) {
  try {
    write_file(file, Json{{"not_graded", why}, {"isolation", isolation().text}});
  } catch (const std::exception&) {
  }
}

void write_gradescope(const std::string& file, const ChapterResult& r) { write_file(file, to_gradescope(r)); }

std::string to_text(const ChapterResult& r, bool colour) {
  const auto paint = [&](const char* code, const std::string& text) {
    return colour ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  };
  std::string out = fmt::format("Homework {}: {}\n", r.chapter, one_line(r.file));
  if (r.gpu)
    out += fmt::format(
        "Every shape runs on the simulator and on the {} (compute capability {}.{}, CUDA {}). Counts and findings are "
        "the simulator's.\n",
        r.gpu->name, r.gpu->major, r.gpu->minor, cuda_version(r.gpu->runtime));
  if (!r.refused.empty()) {
    out += "\n" + paint("31", "Refused, nothing was run: " + printable(r.refused)) + "\n";
  } else if (!r.compiler.empty()) {
    out += r.unsupported.empty()
               ? "\nIt does not compile:\n"
               : "\nThe grader does not support something in this file (nvcc may): it runs files on the "
                 "simulator, which lacks this:\n";
    std::istringstream lines(printable(calls_of_lacking_functions(r.compiler)));
    int n = 0;
    for (std::string line; std::getline(lines, line) && n < 30; ++n) out += "  " + line + "\n";
  }
  if (!r.warnings.empty()) out += "\nThe compiler warns:\n";
  for (const std::string& line : r.warnings) out += "  " + line + "\n";
  int number = 0;
  const bool run = r.refused.empty() && r.compiler.empty();
  for (const TaskResult& t : r.tasks) {
    if (!run) break;
    out += "\n" + paint("1", fmt::format("{}. {} ({}): {}", ++number, t.task, t.level, t.title)) + "\n";
    for (const Criterion& c : t.criteria) {
      const std::string row =
          fmt::format("  {:<24} {:>4} / {:<3} {}", title(c.name), points(c.points), points(c.of), one_line(c.summary));
      out += (c.points >= c.of ? paint("32", row) : c.points > 0 ? paint("33", row) : row) + "\n";
      for (const std::string& n : c.notes) out += "      " + printable(n) + "\n";
    }
    if (t.gpu && t.gpu->time)
      out += fmt::format("  {:<24} {:>4}   {:<3} {}\n", "time on the GPU", "", "", time_text(*t.gpu->time));
    out += fmt::format("  {:<24} {:>4} / {:<3}\n", "together", points(t.points), points(t.of));
  }
  out += "\n";
  for (const TaskResult& t : r.tasks)
    out += fmt::format("  {:<24} {:>4} of {:<3}  counts {:>3.0f} %\n", t.task, points(t.points), points(t.of),
                       r.weights > 0 ? 100 * t.weight / r.weights : 0);
  out += paint("1", fmt::format("  {:<24} {:>4} of 100",
                                "homework " + r.chapter.substr(0, r.chapter.find('_') == 2 ? 2 : r.chapter.npos),
                                points(r.score()))) +
         (r.only_task.empty() ? "" : "   task " + r.only_task + " alone") + fmt::format("   ({:.1f} s)\n", r.seconds);
  return out;
}

}  // namespace tilewise::grader
