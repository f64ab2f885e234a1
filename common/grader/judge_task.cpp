#include "judge_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cage.hpp"
#include "counts.hpp"
#include "dry_launch.hpp"
#include "evidence.hpp"
#include "machine.hpp"
#include "near_miss.hpp"
#include "parallel.hpp"
#include "said.hpp"
#include "task.hpp"
#include "tools.hpp"

namespace tilewise::grader {

using Json = nlohmann::ordered_json;

namespace {

/// What may be said of a hidden shape.
std::string hint_at(const Rubric& r, const Sizes& sizes) {
  std::string text;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    text += fmt::format("{}{} {}", i ? ", " : "", r.sizes[i],
                        sizes[i] % 32 == 0 ? "a multiple of 32"
                        : sizes[i] < 32    ? "below 32"
                                           : "no multiple of 32");
  return text;
}

Json array_or_none(const Json& report) { return report.is_array() ? report : Json::array(); }

/// The findings of a report, those first that explain others.
std::vector<Json> findings_in(const Json& report) {
  std::vector<Json> list;
  for (const Json& launch : array_or_none(report))
    for (const Json& f : launch.value("findings", Json::array())) list.push_back(f);
  // What leaves its buffer comes first: where it arrives in another one, it looks like a race there.
  std::stable_partition(list.begin(), list.end(),
                        [](const Json& f) { return f.value("kind", "").starts_with("out-of-bounds"); });
  // And a load that has left its buffer has no business in another one: that race is none of its own.
  const auto is = [](const Json& f, const char* kind) {
    return f.value("kind", "") == kind && f.value("message", "").starts_with("this thread reads");
  };
  const auto astray = [&, all = list](const Json& f) {
    return is(f, "race-global") && std::any_of(all.begin(), all.end(), [&](const Json& other) {
             return is(other, "out-of-bounds") && other.value("line", 0) == f.value("line", 0) &&
                    other.value("file", "") == f.value("file", "");
           });
  };
  std::erase_if(list, astray);
  return list;
}

/// All counts that a limit may be about, by their names.
std::map<std::string, double> counts_of(const Totals& totals, const Case& c) {
  std::map<std::string, double> counts = totals.counts;
  counts["shared_wavefronts_per_flop"] = c.flops > 0 ? counts["shared_wavefronts"] / c.flops : 0;
  counts["library_calls"] = static_cast<double>(c.library_calls);
  counts.insert(c.host_counts.begin(), c.host_counts.end());
  return counts;
}

/// Why the criterion "findings" gives no points.
struct Fault {
  std::string summary;
  std::vector<std::string> notes;
};

/// One task of one submission.
class TaskJudge {
 public:
  TaskJudge(const Rubric& r, const Task& task, const std::string& chapter, const Programs& programs,
            const std::string& file, const GradeOptions& options)
      : r_(r),
        task_(task),
        chapter_(chapter),
        programs_(programs),
        file_(file),
        options_(options),
        gpu_name_(options.gpu ? "the " + options.gpu->info().name : ""),
        lines_(programs.simulator, file),
        simulator_{programs.simulator, &lines_, file, &programs.frames,
                   isolation().holds ? Cage::submission : Cage::open},
        gpu_{programs.gpu, &lines_, file, &programs.frames, Cage::driver, options.gpu},
        shapes_(r.visible) {
    const std::vector<Sizes> hidden = r.hidden();
    shapes_.insert(shapes_.end(), hidden.begin(), hidden.end());
    shapes_.push_back(r.efficiency_shape);
  }

  TaskResult judge() {
    run_cases();
    if (!options_.canary && std::any_of(cases_.begin(), cases_.end(), [](const auto& c) { return c->suspicious; }))
      grade_canary(chapter_, options_);
    if (options_.gpu) run_cases_on_gpu();

    Criterion compiles = judge_compiling();
    Criterion visible = judge_results("visible", r_.points.visible, 0, r_.visible.size(), true);
    Criterion hidden = judge_results("hidden", r_.points.hidden, r_.visible.size(), shapes_.size() - 1, false);
    doubt(visible, hidden);
    Criterion findings = judge_findings();
    Criterion efficiency = judge_efficiency();

    if (options_.gpu && options_.times != Times::none && earned_ && hidden.points == hidden.of)
      result_.gpu->time = compare_times();
    result_.criteria = {compiles, visible, hidden, findings, efficiency};
    for (Criterion& c : result_.criteria) {
      result_.points += c.points;
      for (std::string& note : c.notes) note = printable(note);  // quoted lines are the student's
    }
    return result_;
  }

 private:
  // ---- the cases: visible shapes, hidden ones, and the one that is counted

  std::uint64_t seed_of(std::size_t i) const {
    return i < r_.visible.size() ? std::uint64_t{i + 1} : r_.hidden_seed * 1000 + i;
  }

  /// Every other hidden shape has its blocks run from the last to the first: no order is promised.
  bool reverse(std::size_t i) const { return i >= r_.visible.size() && i + 1 < shapes_.size() && i % 2 == 1; }

  /// Once more, for what only the report tells.
  Case run_again(std::size_t i) const {
    return run_case(r_, task_, simulator_, shapes_[i], seed_of(i), true, reverse(i));
  }

  const Case& measured() const { return *cases_.back(); }

  void run_cases() {
    cases_.resize(shapes_.size());
    std::atomic<int> given_up{0}, with_findings{0};
    in_parallel(options_.jobs, shapes_.size(), [&](std::size_t i) {
      if (given_up >= 2) return;  // endless loops, one after another, teach nothing new
      cases_[i] = run_case(r_, task_, simulator_, shapes_[i], seed_of(i), i + 1 == shapes_.size(), reverse(i),
                           with_findings < 3);
      const Case& c = *cases_[i];
      // Further cases run without looking, which is faster; but then no access ends a launch that would on a GPU.
      if (c.findings != 0 && !c.ended_by_error) ++with_findings;
      if ((c.slow && c.outcome == Outcome::failed) || c.outcome == Outcome::undefined) ++given_up;
    });
    for (auto& c : cases_) {
      if (!c) c.emplace().what = "not run any more";
    }
  }

  /// Whether the simulator alone has so many devices.
  bool needs_more_gpus(const Sizes& sizes) const {
    return options_.gpu && task_.for_timing(sizes, 1).devices > options_.gpu->info().devices;
  }

  /// The same, but for the shape that is counted. What does not end, or is not there, is not tried again.
  void run_cases_on_gpu() {
    on_gpu_.resize(shapes_.size());
    if (cases_[0]->outcome != Outcome::undefined) {
      std::atomic<int> endless{0};
      in_parallel(options_.jobs, shapes_.size() - 1, [&](std::size_t i) {
        if (cases_[i]->timed_out || endless >= 2 || needs_more_gpus(shapes_[i])) return;
        on_gpu_[i] = run_case(r_, task_, gpu_, shapes_[i], seed_of(i), false);
        if (on_gpu_[i]->timed_out) ++endless;
      });
    }
    result_.gpu.emplace();
    for (auto& c : on_gpu_) {
      if (!c) c.emplace().what = "not run";
    }
  }

  GpuTime compare_times() const {
    const bool small = options_.times == Times::small;
    const Sizes& shape = small ? r_.efficiency_shape : gpu_shape();
    if (!needs_more_gpus(shape)) return options_.gpu->compare_times(r_, task_, programs_.gpu, small);
    GpuTime time;
    time.shape = r_.text(shape);
    time.note = "not timed: this shape needs more GPUs than there are";
    return time;
  }

  // ---- compiles

  Criterion judge_compiling() const {
    Criterion compiles{"compiles", r_.points.compiles, r_.points.compiles, "yes", {}};
    if (cases_[0]->outcome != Outcome::undefined) return compiles;
    compiles.points = 0;
    compiles.summary = "the file does not have this function";
    const ChildResult wanted = run_tool({"nm", installation().homework / (chapter_ + ".o")});
    if (const std::string miss = near_miss(r_.task, wanted.output, programs_.symbols, read_file(file_)); !miss.empty())
      compiles.notes.push_back(miss);
    return compiles;
  }

  // ---- visible and hidden: right on shapes that the student sees, and on others

  Criterion judge_results(const char* name, double of, std::size_t from, std::size_t to, bool show) {
    Criterion c{name, 0, of, "", {}};
    std::size_t right = 0, right_there = 0, right_here = 0;  // on both machines, on the GPU, on the simulator
    std::size_t without_gpu = 0;
    std::optional<std::size_t> wrong;  // the first
    for (std::size_t i = from; i < to; ++i) {
      const bool alone = needs_more_gpus(shapes_[i]), here = is_right(i), there = alone ? here : is_right_on_gpu(i);
      without_gpu += alone;
      right_here += here;
      right_there += there && !alone;
      right += here && there;
      if (!wrong && !(here && there)) wrong = i;
    }
    if (wrong) {
      c.notes = what_is_wrong(*wrong, show);
    } else if (show) {
      if (const auto lines = shown_output(cases_[from]->output, file_); !lines.empty()) {
        c.notes.push_back(r_.text(shapes_[from]) + ":");
        for (const std::string& line : lines) c.notes.push_back("  " + line);
      }
    }
    c.points = of * double(right) / double(to - from);
    c.summary = fmt::format("{} of {} shapes right", right, to - from);
    if (options_.gpu) {
      (show ? result_.gpu->visible_right : result_.gpu->hidden_right) = right_there;
      c.summary += right == right_here && right == right_there + without_gpu
                       ? fmt::format(" on the simulator and on {}", gpu_name_)
                       : fmt::format(" on both: {} on the simulator, {} on {}", right_here, right_there, gpu_name_);
      if (without_gpu > 0)
        c.summary += fmt::format(" ({} of them on the simulator alone: there are {} GPUs)", without_gpu,
                                 options_.gpu->info().devices);
    }
    return c;
  }

  bool is_right(std::size_t i) const { return cases_[i]->outcome == Outcome::right; }
  bool is_right_on_gpu(std::size_t i) const { return !options_.gpu || on_gpu_[i]->outcome == Outcome::right; }

  /// Of one shape.
  std::vector<std::string> what_is_wrong(std::size_t i, bool show) const {
    const bool here = is_right(i);
    const Case& failed = here ? *on_gpu_[i] : *cases_[i];
    const std::string shape = show ? r_.text(shapes_[i]) : "a hidden shape (" + hint_at(r_, shapes_[i]) + ")";
    std::vector<std::string> notes{shape +
                                       (!options_.gpu ? ""
                                        : here        ? ", on " + gpu_name_
                                                      : ", on the simulator") +
                                       ":",
                                   "  " + failed.what};
    for (const std::string& note : failed.notes) notes.push_back("  " + note);
    if (failed.guess && !failed.notes.empty())  // there are none where something else is to be said
      if (const std::string guess = failed.guess(); !guess.empty()) notes.push_back("  " + guess);
    if (!here && failed.returned != 0 && failed.returned != cudaErrorIllegalAddress)
      if (const std::string why = why_refused(run_again(i).report, failed.returned); !why.empty())
        notes.push_back("  " + why);
    if (show)  // what is printed of a hidden shape would tell which it is
      for (const std::string& line : shown_output(failed.output, file_)) notes.push_back("  " + line);
    if (options_.gpu && here) notes.push_back("  on the simulator this shape is right");
    if (options_.gpu && !needs_more_gpus(shapes_[i]) && is_right_on_gpu(i))
      notes.push_back(fmt::format("  on {} it came out right this time: a GPU need not show a mistake", gpu_name_));
    return notes;
  }

  /// Takes points away from results that did not come about as they should have.
  void doubt(Criterion& visible, Criterion& hidden) {
    all_visible_ = visible.points == visible.of;
    // One wrong hidden element teaches as much as a visible one, but where it lies is the tutor's to say only once.
    if (!all_visible_) hidden.notes.clear();
    totals_ = totals(array_or_none(measured().report));
    if (const std::string why = why_implausible(); !why.empty()) {
      implausible_ = true;
      visible.points = hidden.points = 0;
      visible.notes.push_back(why);
    } else if (all_visible_ && hidden.points == 0) {
      // Whoever knows the shapes can treat them specially; nothing is gained by it.
      visible.points = 0;
      visible.notes.push_back("no other shape is right, so these do not count: are they treated specially?");
    }
    earned_ = all_visible_ && visible.points > 0;
  }

  /// Work that must show in the counts when kernels made the result; "" where it does.
  std::string why_implausible() const {
    const Case& c = measured();
    if (c.outcome != Outcome::right || c.library_calls != 0) return "";  // a library's work is not counted
#if defined(__x86_64__) || (defined(__aarch64__) && defined(__linux__))  // where FLOP are counted
    if (totals_.flops < c.least_flops)
      return fmt::format(
          "the result is right, but the kernels did {:.0f} FLOP where it takes at least {:.0f}: where does it come "
          "from?",
          totals_.flops, c.least_flops);
#endif
    if (totals_.load_sectors < c.least_load_sectors ||
        totals_.store_sectors + totals_.atomic_sectors < c.least_store_sectors)
      return "the result is right, but the kernels have not loaded all inputs or stored all of the result: where does "
             "it come from?";
    return "";
  }

  // ---- findings: what the simulator found in the cases, and then what a closer look finds, each time only while there was nothing

  Criterion judge_findings() {
    Criterion c{"findings", 0, r_.points.findings, "", {}};
    const auto has_some = [](const auto& one) { return one->findings != 0; };
    const auto example = std::find_if(cases_.begin(), cases_.end(), has_some);
    if (example != cases_.end()) {
      const auto with = std::count_if(cases_.begin(), cases_.end(), has_some);
      c.summary = with < 3 ? fmt::format("in {} of {} runs", with, cases_.size()) : "in three runs or more";
      c.notes = shown_findings(std::size_t(example - cases_.begin()));
    } else if (!earned_) {
      c.summary = "counts once the results are right";
    } else {
      c.points = c.of;
      c.summary = "none";
    }
    for (const auto look : {&TaskJudge::find_ignored_errors, &TaskJudge::find_what_a_second_call_does,
                            &TaskJudge::find_what_a_larger_call_does, &TaskJudge::find_what_is_launched_at_all_sizes,
                            &TaskJudge::find_indices_at_the_largest_sizes, &TaskJudge::find_other_bits}) {
      if (c.points <= 0) break;
      if (const std::optional<Fault> fault = (this->*look)()) {
        c.points = 0;
        c.summary = fault->summary;
        c.notes.insert(c.notes.end(), fault->notes.begin(), fault->notes.end());
      }
    }
    return c;
  }

  std::vector<std::string> shown_findings(std::size_t i) const {
    constexpr std::size_t kShown = 3;
    std::vector<std::string> notes;
    if (reverse(i)) notes.push_back(kReverse);
    if (i < r_.visible.size()) notes.push_back(r_.text(shapes_[i]) + ":");
    const std::vector<Json> list = findings_in(run_again(i).report);
    for (std::size_t f = 0; f < std::min(kShown, list.size()); ++f) {
      std::vector<std::string> lines = finding_lines(list[f], file_);
      lines.front() += fmt::format(" ({}x)", list[f].value("times", 1));
      notes.insert(notes.end(), lines.begin(), lines.end());
    }
    if (list.size() > kShown) notes.push_back(fmt::format("and {} more", list.size() - kShown));
    return notes;
  }

  /// Errors that nobody looks at: each of the first few launches and calls is made to fail once.
  std::optional<Fault> find_ignored_errors() {
    constexpr std::uint64_t kMost = 4;
    const Case& c = *cases_[0];
    std::vector<std::pair<bool, std::uint64_t>> failures;  // of a library call? which one?
    for (std::uint64_t k = 1; k <= std::min(kMost, c.launches); ++k) failures.emplace_back(false, k);
    for (std::uint64_t k = 1; k <= std::min(kMost, c.library_calls); ++k) failures.emplace_back(true, k);
    std::vector<char> told(failures.size());
    in_parallel(options_.jobs, failures.size(), [&](std::size_t i) {
      const auto [library, k] = failures[i];
      told[i] = tells_of_failure(r_, task_, simulator_, shapes_[0], seed_of(0), library ? 0 : k, library ? k : 0);
    });
    const auto at = std::find(told.begin(), told.end(), 0);
    if (at == told.end()) return std::nullopt;
    const auto [library, k] = failures[std::size_t(at - told.begin())];
    std::string what =
        fmt::format("{} {} of {}", library ? "library call" : "launch", k, library ? c.library_calls : c.launches);
    if (!library) {
      const Case again = run_again(0);
      if (again.report.is_array() && k <= again.report.size())
        what += fmt::format(" ({})", again.report[k - 1].value("kernel", ""));
    }
    return Fault{"an error is ignored",
                 {fmt::format("error-ignored: {} was made to fail once, and what the function returned did not tell: "
                              "homework.cuh says what it returns then",
                              what)}};
  }

  std::optional<Fault> find_what_a_second_call_does() {
    return of_second_call(wrong_again(r_, task_, simulator_, shapes_[0], seed_of(0)));
  }

  std::optional<Fault> find_what_a_larger_call_does() {
    const auto [small, sizes] = smallest_and_largest(r_, task_);
    return of_second_call(small == sizes ? "" : wrong_after(r_, task_, simulator_, small, sizes, seed_of(0)));
  }

  static std::optional<Fault> of_second_call(const std::string& wrong) {
    if (wrong.empty()) return std::nullopt;
    return Fault{wrong.starts_with("leak") ? "something is left behind" : "the second call goes wrong", {wrong}};
  }

  const Sizes& gpu_shape() const { return r_.gpu_shape.empty() ? r_.efficiency_shape : r_.gpu_shape; }

  /// What it launches at the largest sizes of its contract, and at one where a GPU has work to do.
  std::optional<Fault> find_what_is_launched_at_all_sizes() {
    std::vector<Sizes> shapes = r_.largest;
    shapes.push_back(gpu_shape());
    std::vector<DryLaunch> dry(shapes.size());
    in_parallel(options_.jobs, dry.size(),
                [&](std::size_t i) { dry[i] = launches_at(r_, task_, simulator_, shapes[i]); });
    at_gpu_shape_ = dry.back();
    for (std::size_t i = 0; i < dry.size(); ++i)
      if (const std::string fault = dry[i].fault(); !fault.empty())
        return Fault{
            "not at all sizes that homework.cuh allows",
            {fmt::format("large-sizes: {}: {}. (Nothing was run there; only what the function launches was looked at.)",
                         r_.text(shapes[i]), fault)}};
    return std::nullopt;
  }

  std::optional<Fault> find_indices_at_the_largest_sizes() {
    std::vector<std::vector<Json>> outside(r_.largest.size());
    in_parallel(options_.jobs, outside.size(),
                [&](std::size_t i) { outside[i] = out_of_bounds_at(r_, task_, simulator_, r_.largest[i]); });
    const auto some = std::find_if(outside.begin(), outside.end(), [](const auto& list) { return !list.empty(); });
    if (some == outside.end()) return std::nullopt;
    std::vector<std::string> notes = finding_lines(some->front(), file_);
    notes.insert(
        notes.begin(),
        fmt::format("large-sizes: {}: an index is wrong there. Does it, or something on the way to it, exceed what an "
                    "int can hold (2,147,483,647)? (Only the blocks at the corners of the grid were run, on arrays of "
                    "zeros.)",
                    r_.text(r_.largest[std::size_t(some - outside.begin())])));
    return Fault{"not at all sizes that homework.cuh allows", notes};
  }

  std::optional<Fault> find_other_bits() {
    if (!task_.same_bits()) return std::nullopt;
    const std::string where = other_bits_in_reverse(r_, task_, simulator_, r_.efficiency_shape, seed_of(0));
    if (where.empty()) return std::nullopt;
    return Fault{
        "other bits in another order",
        {fmt::format(
            "order-dependent: {} has other bits when the last block runs first, at {}. A sum of floats depends "
            "on the order of what is added: let the order not depend on who comes when",
            where, r_.text(r_.efficiency_shape))}};
  }

  // ---- efficiency: counts within the rubric's limits

  Criterion judge_efficiency() {
    Criterion c{"efficiency", 0, r_.points.efficiency, "", {}};
    if (measured().outcome != Outcome::right || implausible_ || !measured().report.is_array()) {
      c.summary = implausible_ || !all_visible_ ? "counts once the results are right"
                                                : "the shape that is counted is wrong: " + r_.text(r_.efficiency_shape);
      if (all_visible_ && !measured().what.empty()) c.notes.push_back(measured().what);
      return c;
    }
    judge_limits(c);
    if (c.points > 0 && r_.busy_multiprocessors > 0) judge_number_of_blocks(c);
    return c;
  }

  struct Counted {
    Case run;
    std::map<std::string, double> counts;
  };

  void judge_limits(Criterion& c) {
    std::map<Sizes, Counted> elsewhere;  // for limits that have a shape of their own
    const Counted usual{measured(), counts_of(totals_, measured())};
    std::size_t kept = 0;
    bool lesson_missed = false;
    for (const Limit& l : r_.limits) {
      if (!l.shape.empty() && !earned_) continue;
      const Counted& counted = l.shape.empty() ? usual : counted_at(l.shape, elsewhere);
      const std::string at = l.shape.empty() ? "" : " at " + r_.text(l.shape);
      if (counted.run.outcome != Outcome::right) {
        c.notes.push_back(
            fmt::format("{}{}: {} ({:.3g} points)", readable_count(l.count), at, counted.run.what, l.points));
      } else if (const double value = counted.counts.at(l.count); l.kept(value)) {
        ++kept;
        if (earned_) c.points += l.points;
      } else {
        lesson_missed = lesson_missed || l.lesson;
        const std::vector<std::string> notes = why_missed(l, value, at, counted.run);
        c.notes.insert(c.notes.end(), notes.begin(), notes.end());
      }
    }
    c.summary = fmt::format("{} of {} targets met at {}", kept, r_.limits.size(), r_.text(r_.efficiency_shape));
    if (!earned_) c.summary += "; counts once the results are right";
    if (lesson_missed && c.points > 0) {
      c.points = 0;
      c.notes.push_back("the target missed is what this lesson is about: until it is met, the others give no points");
    }
  }

  const Counted& counted_at(const Sizes& shape, std::map<Sizes, Counted>& known) const {
    auto [found, is_new] = known.try_emplace(shape);
    Counted& c = found->second;
    if (is_new) {
      c.run = run_case(r_, task_, simulator_, shape, seed_of(shapes_.size() - 1), true);
      c.counts = counts_of(totals(array_or_none(c.run.report)), c.run);
    }
    return c;
  }

  std::vector<std::string> why_missed(const Limit& l, double value, const std::string& at, const Case& run) const {
    const bool named = l.count == "timeline" && !run.timeline_unit.empty();
    std::vector<std::string> notes{
        fmt::format("{} {}{}, target {} ({:.3g} points): {}", count_text(value),
                    named ? "times as long as " + run.timeline_unit : readable_count(l.count), at, target_text(l),
                    l.points, l.why)};
    // Of a ratio it is not known by how many accesses it is too large.
    const double too_many = l.at_most && l.count.find("per_") == std::string::npos ? value - *l.at_most : 0;
    for (const std::string& d : diagnoses(run.report, l.count, too_many, file_)) notes.push_back("  " + d);
    return notes;
  }

  void judge_number_of_blocks(Criterion& c) {
    if (!at_gpu_shape_) at_gpu_shape_ = launches_at(r_, task_, simulator_, gpu_shape());
    const std::string kernel = busiest_kernel(measured().report);
    const double blocks = blocks_of(at_gpu_shape_->report, kernel);
    if (kernel.empty() || !at_gpu_shape_->ended.empty() || at_gpu_shape_->report.empty() ||
        blocks >= r_.busy_multiprocessors)
      return;
    c.points = 0;
    c.summary += "; most of a GPU has nothing to do";
    c.notes.push_back(
        fmt::format("few-blocks: {} {} of {} at {}, where an H200 has {} multiprocessors, and a block is on one of "
                    "them: launch {} or more. Until then no target gives points",
                    count_text(blocks), blocks == 1 ? "block" : "blocks", kernel, r_.text(gpu_shape()),
                    kMultiprocessors, r_.busy_multiprocessors));
  }

  const Rubric& r_;
  const Task& task_;
  const std::string& chapter_;
  const Programs& programs_;
  const std::string& file_;
  const GradeOptions& options_;
  const std::string gpu_name_;
  SourceLines lines_;
  const Machine simulator_, gpu_;
  std::vector<Sizes> shapes_;
  std::vector<std::optional<Case>> cases_, on_gpu_;
  Totals totals_;  // of the shape that is counted
  bool all_visible_ = false, implausible_ = false;
  bool earned_ = false;                    // points for results, and so for what is looked at besides
  std::optional<DryLaunch> at_gpu_shape_;  // what it launches there, once that is known
  TaskResult result_{r_.task, r_.level, r_.title, r_.weight, 0, r_.points.sum(), {}};
};

}  // namespace

TaskResult judge_task(const Rubric& r, const std::string& chapter, const Programs& programs, const std::string& file,
                      const GradeOptions& options) {
  const Task* task = find_task(chapter, r.task);
  if (!task) throw std::runtime_error(r.file + ": no reference.cpp defines the task " + r.task);
  return TaskJudge(r, *task, chapter, programs, file, options).judge();
}

}  // namespace tilewise::grader
