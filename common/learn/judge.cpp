#include "learn/judge.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <regex>
#include <set>

#include "grader/case.hpp"
#include "grader/counts.hpp"
#include "grader/explain.hpp"
#include "grader/tools.hpp"
#include "learn/findings.hpp"
#include "learn/pattern.hpp"

namespace tilewise::learn {

namespace {

using Said = CheckResult::Said;

/// One judgement: what there is to say about it, found step by step.
class Judge {
 public:
  Judge(const Puzzle& puzzle, const std::string& learners_text, const Workshop& workshop)
      : puzzle_(puzzle), text_(learners_text), workshop_(workshop) {}

  Verdict verdict() {
    if (!has_text()) return v_;
    if (puzzle_.kind == Kind::predict ? !has_prediction() : !has_check()) return v_;
    if (!compiles()) return v_;
    run();
    const bool wrong =
        !launches() || !without_findings() || !ends() || !has_kernel() || !right() || !within_limits() || !predicted();
    if (!wrong) v_.step = Step::solved;
    for (const std::string& note : notes_) say(note);
    return v_;
  }

 private:
  void say(const std::string& text) { v_.said.push_back(text); }
  void say_numbers(const std::string& text) { say(with_separators(text)); }

  /// Line `line` of what is compiled, as one paragraph.
  void quote(int line) {
    const Lines lines = lines_of(composed_.text);
    if (line < 1 || line > int(lines.size())) return;
    say(fmt::format("    {} | {}", line, trimmed(lines[static_cast<std::size_t>(line) - 1])));
  }

  /// "07_guard.cu:9: "
  std::string at(int line) const {
    return line > 0 ? fmt::format("{}:{}: ", puzzle_.file_name(), line) : puzzle_.file_name() + ": ";
  }

  bool in_check(int line) const { return line > int(composed_.own_lines); }

  bool has_text() {
    v_.step = Step::file;
    if (!trimmed(text_).empty()) return true;
    say(fmt::format("The file is gone or empty. make learn FROM={}, and there r, gives it as it was.", puzzle_.id()));
    return false;
  }

  bool has_check() {
    v_.step = Step::file;
    composed_ = compose(puzzle_, text_);
    if (!composed_.note.empty()) notes_.push_back(composed_.note);
    if (composed_.problem.empty()) composed_.problem = interference(puzzle_, composed_);
    if (composed_.problem.empty()) return true;
    say(composed_.problem);
    return false;
  }

  /// The kernel is the original's, whatever became of it in the learner's file: the question is about that one.
  bool has_prediction() {
    v_.step = Step::prediction;
    composed_ = compose(puzzle_, puzzle_.text());
    prediction_ = read_prediction(puzzle_, text_);
    if (prediction_.other_changes) notes_.push_back("Only your number is read: the kernel is run as it was given.");
    if (prediction_.problem.empty()) return true;
    say(prediction_.problem);
    return false;
  }

  bool compiles() {
    v_.step = Step::compile;
    compiled_ = workshop_.compile(bench_, puzzle_.file_name(), with_token(composed_.text, composed_.own_lines, token_));
    if (compiled_.ok) return true;
    const CompileError& error = compiled_.error;
    if (const std::string assertion = "static assertion failed: "; error.message.starts_with(assertion)) {
      say(sentence(error.message.substr(assertion.size())));
      return false;
    }
    if (const std::string brace = brace_problem(composed_.text, composed_.own_lines); !brace.empty()) {
      say("It does not compile: " + at(0) + brace + ".");  // what the compiler makes of it, misleads
      return false;
    }
    say("It does not compile: " + at(error.line) + error.message);
    quote(error.line);
    if (in_check(error.line))
      say("The compiler noticed this only in the check, which is right: is a name, an argument or a brace above it "
          "not what it was?");
    return false;
  }

  void run() {
    run_ = workshop_.run(bench_, compiled_.program, token_, puzzle_.devices);
    v_.counts = counts_of(run_.report, run_.check.count_from);
    v_.counts["timeline_length"] = run_.check.timeline.length;
    v_.counts["most_sent"] = most_sent(run_.check.timeline);
    v_.drawn = drawing_of(run_.check.timeline);
    constexpr std::size_t kMost = 5;
    v_.printed = lines_of(run_.printed);
    if (v_.printed.size() > kMost) v_.printed.resize(kMost);
  }

  /// A launch that CUDA does not accept.
  bool launches() {
    v_.step = Step::launch;
    if (run_.check.said == Said::solved || run_.check.said == Said::fail) return true;  // the check knows of it
    const auto refused = std::find_if(run_.report.begin(), run_.report.end(),
                                      [](const Json& launch) { return launch.contains("refused"); });
    if (refused == run_.report.end()) return true;
    const std::string error = refused->value("refused", "");
    const Json until(run_.report.begin(), refused + 1);
    std::string why = grader::why_refused(
        until, error == "cudaErrorInvalidValue" ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration);
    if (why.starts_with("it launched")) why = "this launches" + why.substr(11);
    if (why.empty()) why = whose_handle(error);
    const int line = refused->value("line", 0);
    say(at(line) + "CUDA refuses this launch" + (why.empty() ? "" : ": " + why) + " (" + error + ").");
    quote(line);
    return false;
  }

  bool without_findings() {
    v_.step = Step::finding;
    const auto finding = first_finding(run_.report);
    if (!finding) return true;
    const bool own = finding->file == puzzle_.file_name();  // else it is in a call that the check makes
    say(at(own ? finding->line : 0) + finding->message + (finding->message.ends_with("?") ? "" : "."));
    if (own) quote(finding->line);
    if (own && finding->other_line > 0 && finding->other_line != finding->line) quote(finding->other_line);
    if (!finding->threads.empty()) say("It was " + finding->threads + ", in " + finding->kernel + ".");
    const bool says_all = finding->message.find("the launch asked for") != std::string::npos;
    if (const std::string advice = advice_for(finding->kind); !advice.empty() && !says_all) say(advice);
    return false;
  }

  /// By itself, in time, with a verdict.
  bool ends() {
    v_.step = Step::run;
    if (run_.child.timed_out)
      say("It did not end within 5 seconds: is there a loop whose condition never becomes false?");
    else if (run_.child.too_much_output)
      say("It prints without end.");
    else if (run_.out_of_memory)
      say("It used more than 1 GiB of memory and was ended: is there a loop that never ends, or an array that is far "
          "too "
          "large?");
    else if (run_.wants_thread)
      say("It starts another host thread, which isn't possible in here: let one thread do it.");
    else if (run_.child.signal != 0)
      say("It ended early: " + grader::signal_text(run_.child.signal) + ".");
    else if (run_.check.said == Said::cuda)
      say("CUDA reports an error: " + run_.check.text + "." + reason());
    else if (run_.check.said == Said::nothing && !run_.complaint.empty())
      say(as_learners_say(run_.complaint) + ".");
    else if (run_.check.said == Said::nothing)
      say(
          fmt::format("It ended, with exit code {}, before the check was done: does something above the check call "
                      "exit()?",
                      run_.child.code));
    else
      return true;
    return false;
  }

  /// Why CUDA does not take the last launch, where that can be told.
  std::string reason() const {
    const bool bad_value = run_.check.text.starts_with("cudaErrorInvalidValue");
    const std::string why =
        run_.report.empty()
            ? ""
            : grader::why_refused(run_.report, bad_value ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration);
    return why.empty() ? whose_handle(run_.check.text) : " " + sentence(why);
  }

  /// What a call with another device's stream or event has got wrong, where there are several devices.
  std::string whose_handle(const std::string& error) const {
    if (puzzle_.devices < 2 || !error.starts_with("cudaErrorInvalidResourceHandle")) return "";
    if (error.find(' ') == std::string::npos) return "its stream belongs to another device than the current one";
    return " A launch wants a stream of the current device, and an event is recorded in a stream of its own device.";
  }

  bool has_kernel() {
    v_.step = Step::kernel;
    const bool launched = std::any_of(run_.report.begin(), run_.report.end(),
                                      [](const Json& launch) { return !launch.value("kernel", "").empty(); });
    if (launched || run_.check.said == Said::fail) return true;
    say("No kernel ran: nothing is launched, so nothing is computed on the GPU. A launch is kernel<<<blocks, "
        "threads>>>(arguments).");
    return false;
  }

  bool right() {
    v_.step = Step::result;
    if (run_.check.said == Said::solved) return true;
    if (run_.check.said == Said::fail)
      say(run_.check.text);
    else
      for (const std::string& line : explain(run_.check)) say_numbers(line);
    return false;
  }

  static Lines explain(const CheckResult& check);

  bool within_limits() {
    v_.step = Step::limit;
    for (const CountLimit& limit : puzzle_.limits) {
      const double value = v_.counts.at(limit.count);
      if (limit.holds(value)) continue;
      say_numbers(fmt::format("The result is right, but not yet the count: {}. Wanted: {}. {}",
                              with_count(value, limit.count), wanted(limit), sentence(limit.why)));
      const double too_many =
          limit.relation != ">=" && limit.count.find("per_") == std::string::npos ? value - limit.bound : 0;
      diagnose(limit.count, too_many);
      return false;
    }
    return true;
  }

  /// "4 at most".
  static std::string wanted(const CountLimit& limit) {
    const std::string number = count_text(limit.bound);
    return limit.relation == "<=" ? number + " at most" : limit.relation == ">=" ? number + " or more" : number;
  }

  /// "4 blocks", "1 block".
  static std::string with_count(double value, const std::string& count) {
    std::string words = count_in_words(count);
    static const std::regex noun(
        "^(?!times )(floating-point operation|bank conflict|atomic update|[a-z]+?)(?:(ss|ch)es|s)\\b");
    if (value == 1) {
      words = std::regex_replace(words, noun, "$1$2");
      words = std::regex_replace(words, std::regex(" that are "), " that is ");
    }
    return count_text(value) + " " + words;
  }

  static std::string sentence(std::string text) {
    if (text.empty()) return text;
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    if (std::strchr(".!?", text.back()) == nullptr) text += '.';
    return text;
  }

  /// The lines that a count comes from; of their places, at most two.
  void diagnose(const std::string& count, double too_many) {
    if (count == "leaks") return say_leaks();
    if (count == "flops" || count == "dram_bytes") return;
    if (count == "devices") return;
    if (count == "timeline_length" || count == "most_sent") return say_drawing();
    Json judged = Json::array();
    for (std::size_t i = run_.check.count_from; i < run_.report.size(); ++i) judged.push_back(run_.report[i]);
    const std::string name = count == "load_data_passes"    ? "load_sectors"
                             : count == "store_data_passes" ? "store_sectors"
                             : count == "store_requests"    ? "store_sectors"
                                                            : count;
    Lines found = grader::diagnoses(judged, name, too_many, bench_.file(puzzle_.file_name()));
    if (found.size() > 4) found.resize(4);
    for (const std::string& line : found) {
      if (line.starts_with("    "))
        say("    " + trimmed(line));
      else
        say_numbers(line + ".");
    }
  }

  void say_drawing() {
    say("Which engine works for which stream, from left to right:");
    for (const std::string& line : v_.drawn) say(line);
  }

  void say_leaks() {
    for (const Finding& leak : all_findings(run_.report)) {
      if (leak.kind != "leak") continue;
      const bool own = leak.file == puzzle_.file_name();
      say(at(own ? leak.line : 0) + leak.message + ".");
      if (own) quote(leak.line);
      return;
    }
  }

  bool predicted() {
    if (puzzle_.kind != Kind::predict) return true;
    v_.step = Step::answer;
    const double answer = v_.counts.at(puzzle_.answer), number = *prediction_.number;
    if (std::abs(number - answer) <= (answer == std::floor(answer) ? 1e-9 : 0.01 * std::abs(answer))) return true;
    for (const Belief& belief : puzzle_.beliefs) {
      if (std::abs(belief.number - number) > 1e-9) continue;
      say(fmt::format("No, not {}. {}", count_text(number), sentence(belief.reply)));
      return false;
    }
    say(fmt::format("No, it is not {}.", count_text(number)));
    return false;
  }

  const Puzzle& puzzle_;
  const std::string& text_;
  const Workshop& workshop_;
  const Bench bench_;
  const std::string token_ = fmt::format("{:08x}", std::random_device{}());
  Composed composed_;
  Prediction prediction_;
  Compiled compiled_;
  Run run_;
  Lines notes_;
  Verdict v_;
};

/// The check's comparison as a task of the grader's, which explains wrong results.
class ComparisonTask : public grader::Task {
 public:
  ComparisonTask() : Task("puzzles", "check") {}
  grader::Problem make(const grader::Sizes&, std::uint64_t) const override { return {}; }
  std::string where(const grader::Place&) const override { return ""; }
  std::string guess(const grader::Sizes&, const grader::Problem&, const grader::Buffer& output,
                    const grader::Values& got) const override {
    return pattern_of(output, got);
  }
};

grader::Values values_like(const std::string& type, std::size_t size) {
  if (type == "int") return std::vector<std::int32_t>(size);
  if (type != "float") return std::vector<double>(size);
  return std::vector<float>(size);
}

Lines Judge::explain(const CheckResult& check) {
  static const ComparisonTask task;
  const std::size_t size = std::min({check.expected.size(), check.got.size(), check.unwritten.size()});
  grader::Values like = values_like(check.type, 0), got = values_like(check.type, size);
  const grader::Values poison = grader::poison(like, size);
  std::visit(
      [&](auto& to) {
        const auto& unwritten = std::get<std::decay_t<decltype(to)>>(poison);
        for (std::size_t i = 0; i < size; ++i) {
          if (check.unwritten[i])
            std::memcpy(&to[i], &unwritten[i], sizeof to[i]);
          else
            to[i] = static_cast<std::decay_t<decltype(to[i])>>(check.got[i]);
        }
      },
      got);
  grader::Problem problem;
  problem.buffers = {
      grader::Buffer{check.array, check.rows, check.cols, grader::Use::output, like, check.expected,
                     check.tolerance > 0 ? std::vector<double>(size, check.tolerance) : std::vector<double>{}}};
  const grader::Explanation e = grader::explain_wrong(task, {}, problem, problem.buffers[0], got);
  Lines said{fmt::format("Where {}, {}.", check.text, e.what)};
  for (const std::string& note : e.notes) said.push_back(Judge::sentence(note));
  if (e.guess)
    if (const std::string guess = e.guess(); !guess.empty()) said.push_back(Judge::sentence(guess));
  return said;
}

}  // namespace

const char* name(Step step) {
  static constexpr const char* names[] = {"file",   "prediction", "compile", "launch", "finding", "run",
                                          "kernel", "result",     "limit",   "answer", "solved"};
  return names[static_cast<int>(step)];
}

std::string Verdict::text() const { return joined(said, "\n"); }

Lines drawing_of(const Timeline& timeline) {
  constexpr double kWidest = 60;
  double shortest = timeline.length;
  for (const TimelinePiece& piece : timeline.pieces) shortest = std::min(shortest, piece.end - piece.begin);
  if (timeline.pieces.empty() || shortest <= 0) return {};
  const double pieces = timeline.length / shortest;
  const double width = pieces > kWidest ? kWidest : std::round(pieces * std::floor(kWidest / pieces));
  static constexpr const char* kEngines[] = {"copy in   ", "kernels   ", "copy out  "};
  std::map<int, Timeline> of_device;
  for (const TimelinePiece& piece : timeline.pieces) of_device[piece.device].pieces.push_back(piece);
  const bool several = of_device.rbegin()->first > 0;
  Lines lines;
  for (auto& [device, part] : of_device) {
    part.length = timeline.length;
    const Lines drawn = tilewise::drawn(part, timeline.length, static_cast<std::size_t>(width));
    for (std::size_t engine = 0; engine < drawn.size(); ++engine) {
      if (several && drawn[engine].find_first_not_of('.') == std::string::npos) continue;
      lines.push_back("    " + (several ? fmt::format("device {}  ", device) : "") + kEngines[engine] + drawn[engine]);
    }
  }
  return lines;
}

std::string count_text(double value) {
  const double whole = std::round(value);
  const bool is_whole = std::abs(value - whole) <= 1e-9 * std::max(1.0, std::abs(value)) || std::abs(value) >= 1000;
  return is_whole ? with_separators(fmt::format("{:.0f}", whole)) : fmt::format("{:.4g}", value);
}

std::string with_separators(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
    if (end == i) {
      out += text[i++];
      continue;
    }
    std::string digits = text.substr(i, end - i);
    const char before = i > 0 ? text[i - 1] : ' ';
    const bool whole = std::strchr(" (-:", before) != nullptr &&
                       (end == text.size() || !std::isalpha(static_cast<unsigned char>(text[end])));
    for (std::size_t at = digits.size(); whole && at > 3;) digits.insert(at -= 3, ",");
    out += digits;
    i = end;
  }
  return out;
}

std::map<std::string, double> counts_of(const Json& report, std::size_t from) {
  Json judged = Json::array();
  for (std::size_t i = from; i < report.size(); ++i) judged.push_back(report[i]);
  // As written: banks are what the puzzle is about, and what the findings beside the counts speak of.
  const grader::Totals totals = grader::totals(judged, grader::SharedMemory::as_written);
  std::map<std::string, double> counts = totals.counts;
  counts["flops"] = totals.flops;
  std::set<int> devices;
  for (const Json& launch : judged)
    if (!launch.value("kernel", "").empty()) devices.insert(launch.value("device", 0));
  counts["devices"] = static_cast<double>(devices.size());
  for (const char* name : {"store_requests", "load_data_passes", "store_data_passes", "dram_bytes", "leaks"})
    counts[name] = 0;
  for (const Json& launch : judged) {
    const Json counters = launch.value("counters", Json::object()), derived = launch.value("derived", Json::object());
    counts["store_requests"] += counters.value("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 0.0);
    counts["load_data_passes"] += derived.value("l1_data_passes_load", 0.0);
    counts["store_data_passes"] += derived.value("l1_data_passes_store", 0.0);
    counts["dram_bytes"] += derived.value("dram_bytes_at_least", 0.0);
  }
  for (const Finding& finding : all_findings(report))
    if (finding.kind == "leak") counts["leaks"] += parse_number(finding.message).value_or(1);
  return counts;
}

Verdict judge(const Puzzle& puzzle, const std::string& learners_text, const Workshop& workshop) {
  return Judge(puzzle, learners_text, workshop).verdict();
}

}  // namespace tilewise::learn
