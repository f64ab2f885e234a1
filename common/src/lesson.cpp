#include "tilewise/lesson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tilewise {

int run_main(const std::function<int()>& program) noexcept {
  try {
    return program();
  } catch (const ExitRequest& request) {
    return request.code;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
  } catch (...) {
    fmt::print(stderr, "error: an exception of an unknown type\n");
  }
  return kWrongResult;
}

namespace {

/// Products are compared by their speed-ups, unless a lesson wants the share; what moves data always by the share.
bool compares_shares(const LessonStyle& style) { return style.figure == Figure::bytes || style.share; }

/// What was counted, by names of columns.inc.
std::vector<const char*> counted_columns(const LessonStyle& style) {
  if (style.only_shared)
    return {"shared_loads", "wavefronts_per_load", "shared_stores", "wavefronts_per_store", "conflicts"};
  std::vector<const char*> list = {"load_requests", "sectors_per_load"};
  const auto add = [&](bool wanted, std::initializer_list<const char*> names) {
    if (wanted) list.insert(list.end(), names);
  };
  add(style.l1, {"tag_passes_per_load", "data_passes_per_load"});
  if (style.figure == Figure::flops) {
    add(!style.l1, {"loads_counted", "loads_by_formula"});
    add(true, {"intensity"});
    add(style.show_shared, {"shared_wavefronts"});
  } else {
    add(style.by_formula, {"load_formula"});
    add(true, {"store_requests", "sectors_per_store"});
    add(style.by_formula, {"store_formula"});
    add(style.show_shared, {"shared_wavefronts", "conflicts"});
  }
  return list;
}

/// What a table says of each row after its names: what was timed on a GPU, what was counted on the simulator, and how right it is.
std::vector<KnownColumn> figures(const LessonStyle& style) {
  std::vector<KnownColumn> list;
  const auto add = [&](const std::vector<const char*>& names) {
    for (const char* name : names) list.push_back(known_column(name));
  };
  if (is_simulated()) {
    if (style.counts) add(counted_columns(style)), add({"at_least"});
  } else {
    add({"time", "iqr", style.figure == Figure::flops ? "gflops" : "gbs", "of_peak"});
    if (!compares_shares(style)) {
      add({"same_block"});
      list.back().heading = "vs " + style.baseline_name;
    }
    list.push_back(speedup_column(style.baseline_name, compares_shares(style)));
  }
  if (!style.exact && sampled_blocks() == 0) add({"error", "bound"});
  return list;
}

std::vector<Column> columns(const LessonStyle& style) {
  std::vector<Column> list = {{"shape", "", 19, true}};
  if (style.show_tile) list.push_back({"tile", "", 4, false});
  list.push_back({"kernel", "", style.kernel_width, true});
  list.insert(list.end(), style.extra.begin(), style.extra.end());
  for (const KnownColumn& column : figures(style)) list.push_back(on_screen(column));
  return list;
}

bool refused_by_configuration(cudaError_t code) {
  return code == cudaErrorInvalidConfiguration || code == cudaErrorInvalidValue ||
         code == cudaErrorLaunchOutOfResources;
}

}  // namespace

/// What the JSON calls the quantity of a table. Where nothing is counted, it is time.
static const char* quantity_of(const LessonStyle& style) {
  switch (style.counts ? style.quantity : Quantity::time) {
    case Quantity::requests:
      return "requests";
    case Quantity::sectors:
      return "sectors";
    case Quantity::wavefronts:
      return "wavefronts";
    case Quantity::passes:
      return "passes";
    case Quantity::bytes:
      return "bytes";
    case Quantity::time:
      return "time";
  }
  return "";
}

struct Lesson::State {
  State(const Options& options_, const LessonStyle& style_)
      : options(options_), style(style_), table(columns(style_)), results(options_) {}

  const Options& options;
  LessonStyle style;
  Table table;
  Results results;
  std::map<std::string, double> baseline_by_block;  // ms
  double best_baseline = 0;                         // ms; 0: none yet
  double best_baseline_work = 0;                    // FLOP or bytes of it
  TimedCall best_baseline_call;                     // for timing in turns
  std::string best_baseline_kernel;
  std::vector<std::string> turned_with;  // baselines that others were timed in turns with
  std::vector<std::string> formulas;
  std::vector<std::string> methods;
  int right = 0, counted = 0, wrong = 0, skipped = 0;
  bool some_uncounted = false;
  std::string bounds_of;      // the GPU whose least times the table shows; "" when it shows none
  std::string part;           // name of the present table; "" in programs with only one
  bool some_inexact = false;  // a row with a bound

  double ceiling() const {
    if (style.ceiling > 0) return style.ceiling;
    return style.figure == Figure::flops ? device().peak_fp32_gflops() : device().peak_bandwidth_gbs();
  }
  const char* unit() const { return style.figure == Figure::flops ? "GFLOP/s" : "GB/s"; }

  void remember(std::vector<std::string>& list, const std::string& text) {
    if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
  }

  void check(const Variant& variant, Outcome& outcome);
  void measure_with_baseline(const Variant& variant, const TimerOptions& rules, Outcome& outcome);
  void time(const Variant& variant, Outcome& outcome);
  std::size_t add_row(const Variant& variant, const Outcome& outcome);
  std::vector<std::string> cells(const Variant& variant, const Record& row, Status status) const;
  Record record(const Variant& variant, const Outcome& outcome) const;
};

Lesson::Lesson(const Options& options, const LessonStyle& style) : state_(std::make_unique<State>(options, style)) {
  state_->results.describe_table("", "", quantity_of(style));
  fmt::print("{}\n", device().text());
  if (is_simulated())
    fmt::print("No GPU: a time would mean nothing, so the table shows what the hardware would do, counted.\n");
  else
    fmt::print("Theoretical peaks: {} GFLOP/s FP32, {} GB/s. Times are medians of kernel time alone.\n",
               with_commas(static_cast<std::uint64_t>(device().peak_fp32_gflops())),
               with_commas(static_cast<std::uint64_t>(device().peak_bandwidth_gbs())));
  fmt::print("\n");
}

Lesson::~Lesson() = default;

void Lesson::begin_group() {
  state_->baseline_by_block.clear();
  state_->best_baseline = 0;
  state_->best_baseline_call = {};
}

void Lesson::begin_part(const std::string& part, const std::string& title, const LessonStyle& style) {
  State& s = *state_;
  fmt::print("{}{}: {}\n", s.right + s.counted + s.wrong + s.skipped > 0 ? "\n" : "", part, title);
  s.part = part;
  s.style = style;
  s.table = Table(columns(style));
  s.results.describe_table(part, title, quantity_of(style));
}

Outcome Lesson::run(const Variant& variant) {
  State& s = *state_;
  Outcome outcome;
  const std::string what = variant.tile > 0 ? fmt::format("tile {}", variant.tile) : variant.kernel;
  outcome.reason = device().why_not(what, variant.block.x, variant.block.y, variant.block.z, variant.shared_bytes,
                                    variant.opt_in_shared);
  if (outcome.reason.empty() && variant.skip) outcome.reason = variant.skip();
  if (!outcome.reason.empty()) {
    outcome.status = Status::skip;
  } else {
    s.table.progress(fmt::format("{} {}", variant.shape, variant.kernel));
    s.check(variant, outcome);
    if (outcome.status == Status::ok && !is_simulated() && s.options.timed()) s.time(variant, outcome);
  }
  outcome.row = s.add_row(variant, outcome);
  return outcome;
}

void Lesson::add_fields(const Outcome& outcome, const Record& fields) { state_->results.extend(outcome.row, fields); }

void Lesson::State::check(const Variant& variant, Outcome& outcome) {
  try {
    if (variant.poison && sampled_blocks() == 0) variant.poison();
    if (is_simulated() && !worth_counting(variant.work, style.counted_work)) {
      run_unwatched([&] { variant.launch(nullptr); });
      some_uncounted = true;
    } else {
      outcome.counts = count([&] { variant.launch(nullptr); });
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    if (sampled_blocks() != 0) {
      outcome.status = outcome.counts ? Status::counted : Status::skip;
      if (!outcome.counts) outcome.reason = "launches no kernel: there is nothing to count";
      return;
    }
    outcome.comparison = variant.check();
    outcome.status = outcome.comparison.ok ? Status::ok : Status::wrong;
    if (!outcome.comparison.ok) outcome.reason = outcome.comparison.reason();
    remember(methods, outcome.comparison.method);
  } catch (const CudaError& error) {
    outcome.status = Status::wrong;
    outcome.reason = error.what();
    if (refused_by_configuration(error.code())) return;  // the device is as it was before
    add_row(variant, outcome);  // nothing more can run after an error inside a kernel, but say which it was
    throw;
  }
}

void Lesson::State::time(const Variant& variant, Outcome& outcome) {
  TimerOptions rules;
  rules.iterations = options.repeat();
  rules.working_set = variant.working_set;
  rules.min_seconds = style.min_seconds;
  if (!style.graphs) rules.graph_below_us = 0;
  rules.from_idle = style.from_idle;
  measure_with_baseline(variant, rules, outcome);
  outcome.figure = variant.work / outcome.timing.seconds() * 1e-9;
  // A race may show only after many launches: what the last timed one left must be right too. After calls in turns, what
  // is there may be the baseline's: one more launch then, into an output that neither has written.
  if (variant.recheck) {
    if (style.in_turns && variant.poison) {
      variant.poison();
      variant.launch(nullptr);
      CUDA_CHECK(cudaDeviceSynchronize());
    }
    if (const Comparison again = variant.recheck(); !again.ok) {
      outcome.comparison = again;
      outcome.status = Status::wrong;
      outcome.reason = "after timing: " + again.reason();
      return;
    }
  }
  if (variant.work > 0) {
    // What L2 still has from the call before may come faster than DRAM can send it.
    const bool from_l2 = style.figure == Figure::bytes && style.ceiling == 0 && outcome.timing.graph &&
                         variant.working_set < 4 * device().l2_bytes;
    try {
      check_possible(outcome.figure, from_l2 ? 0 : ceiling(), unit(),
                     style.ceiling > 0 ? "ceiling" : "theoretical peak");
    } catch (const ImpossibleFigure& error) {
      outcome.status = Status::impossible;
      outcome.reason = error.what();
      return;
    }
  }
  outcome.reason = outcome.timing.note;
  if (variant.baseline) {
    const double ms = outcome.timing.median_ms();
    baseline_by_block[variant.block_key] = ms;
    if (best_baseline == 0 || ms < best_baseline) {
      best_baseline = ms;
      best_baseline_work = variant.work;
      best_baseline_call = timed_call(variant.launch);
      best_baseline_kernel = variant.kernel;
      outcome.speedup = 1;
      outcome.speedup_q1 = outcome.speedup_q3 = 0;  // its turns were with the baseline before it
    }
  }
}

void Lesson::State::measure_with_baseline(const Variant& variant, const TimerOptions& rules, Outcome& outcome) {
  // Kernels that move bytes need not move as many as the copy does: rates are compared. Products are all the same work.
  const bool rates = style.figure == Figure::bytes && best_baseline_work > 0 && variant.work > 0;
  const double more_work = rates ? variant.work / best_baseline_work : 1;
  if (!style.in_turns || best_baseline == 0) {
    outcome.timing = measure(variant.launch, rules);
    if (best_baseline > 0) outcome.speedup = best_baseline / outcome.timing.median_ms() * more_work;
    return;
  }
  TimerOptions half = rules;
  half.min_seconds /= 2;  // two kernels are timed
  half.max_seconds /= 2;
  // The baseline first: what is left in the output is then the variant's.
  Interleaved both = interleave_calls(best_baseline_call, timed_call(variant.launch), half);
  outcome.timing = std::move(both.b);
  outcome.speedup = both.a.median_ms() / outcome.timing.median_ms() * more_work;
  if (both.turns.n > 0) {  // not on the simulator; the turns are of time over time
    outcome.speedup_q1 = more_work / both.turns.q3;
    outcome.speedup_q3 = more_work / both.turns.q1;
  }
  remember(turned_with, best_baseline_kernel);
}

std::vector<std::string> Lesson::State::cells(const Variant& variant, const Record& row, Status status) const {
  std::vector<std::string> list = {variant.shape};
  if (style.show_tile) list.push_back(variant.tile > 0 ? std::to_string(variant.tile) : "-");
  list.push_back(variant.kernel);
  for (std::size_t i = 0; i < style.extra.size(); ++i)
    list.push_back(i < variant.extra.size() ? variant.extra[i] : "-");
  if (status == Status::skip) return list;
  for (const KnownColumn& column : figures(style)) list.push_back(written(column, row));
  return list;
}

Record Lesson::State::record(const Variant& variant, const Outcome& outcome) const {
  Record r;
  if (!part.empty()) r.set("part", part);
  r.set("kernel", variant.kernel).set("shape", variant.shape).set("status", to_string(outcome.status));
  if (style.only_shared) r.set("about", "shared");
  for (std::size_t i = 0; i < style.extra.size(); ++i)  // the same keys in every row, so that tables have columns
    r.set("extra." + style.extra[i].title, i < variant.extra.size() ? variant.extra[i] : std::string("-"));
  if (variant.tile > 0) r.set("tile", variant.tile);
  if (!outcome.reason.empty()) r.set("reason", outcome.reason);
  r.set("block.x", variant.block.x).set("block.y", variant.block.y).set("block.z", variant.block.z);
  r.set("shared_bytes", variant.shared_bytes);
  if (outcome.status == Status::skip) return r;
  if (const Comparison& c = outcome.comparison; c.checked > 0) {
    r.set("error.max", c.max_error).set("error.bound", c.bound_at_max).set("error.checked_by", c.method);
    r.set("error.wrong_elements", c.wrong);
  }
  if (outcome.status == Status::ok && outcome.timing.timed) {
    const Timing& t = outcome.timing;
    r.set("time.median_ms", t.ms.median).set("time.iqr_ms", t.ms.iqr()).set("time.q1_ms", t.ms.q1);
    r.set("time.q3_ms", t.ms.q3).set("time.min_ms", t.ms.min).set("time.max_ms", t.ms.max);
    r.set("time.samples", t.ms.n).set("time.calls_per_sample", t.calls_per_sample);
    r.set("time.working_set", variant.working_set);
    r.set("time.l2_flushed", t.flushed).set("time.graph", t.graph);
    r.set("time.sm_clock_min_mhz", t.sm_clock_min_mhz).set("time.sm_clock_max_mhz", t.sm_clock_max_mhz);
    r.set("figure.unit", unit());
    if (outcome.figure > 0) r.set("figure.value", outcome.figure);
    if (outcome.figure > 0 && ceiling() > 0 && std::isfinite(ceiling()))
      r.set("figure.share_of_peak", outcome.figure / ceiling());
    const auto same = baseline_by_block.find(variant.block_key);
    if (same != baseline_by_block.end() && !style.share) r.set("speedup.same_block", same->second / t.ms.median);
    if (style.share) r.set("speedup.share", true);
    if (outcome.speedup > 0)
      r.set("speedup.best_" + style.baseline_name, outcome.speedup).set("speedup.in_turns", style.in_turns);
    if (outcome.speedup_q3 > 0) r.set("speedup.q1", outcome.speedup_q1).set("speedup.q3", outcome.speedup_q3);
  }
  if (variant.predicted_load_sectors > 0) r.set("formula.load_sectors", variant.predicted_load_sectors);
  if (variant.predicted_store_sectors > 0) r.set("formula.store_sectors", variant.predicted_store_sectors);
  if (variant.predicted_loads > 0)
    r.set("formula.loads", variant.predicted_loads).set("formula.text", variant.loads_formula);
  if (outcome.counts && (outcome.status == Status::ok || outcome.status == Status::counted)) {
    const Counts& n = *outcome.counts;
    set_counts(r, n);
    if (style.figure == Figure::flops && n.global_bytes() > 0)
      r.set("intensity", variant.work / static_cast<double>(n.global_bytes()));
  }
  return r;
}

std::size_t Lesson::State::add_row(const Variant& variant, const Outcome& outcome) {
  switch (outcome.status) {
    case Status::ok:
      ++right;
      break;
    case Status::counted:
      ++counted;
      break;
    case Status::skip:
      ++skipped;
      break;
    default:
      ++wrong;
  }
  if (!variant.loads_formula.empty()) remember(formulas, fmt::format("{} {}", variant.kernel, variant.loads_formula));
  some_inexact = some_inexact || !style.exact;
  const Record row = record(variant, outcome);
  table.row(cells(variant, row, outcome.status), outcome.status, outcome.reason);
  if (outcome.counts && outcome.counts->at_least.seconds > 0) bounds_of = outcome.counts->at_least.device;
  return results.add(row);
}

void Lesson::skip(const std::string& shape, const std::string& kernel, int tile, const std::string& reason) {
  Variant variant;
  variant.shape = shape;
  variant.kernel = kernel;
  variant.tile = tile;
  Outcome outcome;
  outcome.reason = reason;
  state_->add_row(variant, outcome);
}

void Lesson::say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

int Lesson::finish() {
  State& s = *state_;
  fmt::print("\n");
  if (!s.formulas.empty()) {
    std::string line = "Loads from global memory by formula, in elements: ";
    for (std::size_t i = 0; i < s.formulas.size(); ++i) line += (i > 0 ? "; " : "") + s.formulas[i];
    fmt::print("{}.\n", line);
  }
  if (!s.methods.empty()) {
    std::string line;
    for (std::size_t i = 0; i < s.methods.size(); ++i) line += (i > 0 ? " | " : "") + s.methods[i];
    if (!s.some_inexact)
      fmt::print("Checked: {}.\n", line);
    else
      fmt::print("Checked against an FP64 reference: {}. Bound: gamma_k |A||B|, what rounding can do at most.\n", line);
  }
  if (!s.turned_with.empty())
    fmt::print("Rows with a ratio were timed in turns with {}; the ratio is that of the two medians.\n",
               fmt::join(s.turned_with, " or "));
  if (!s.bounds_of.empty())
    fmt::print(
        "At least: what the busiest part of the simulated {} needs for what was counted, at its highest rate. No "
        "kernel "
        "is faster, most are slower.\n",
        s.bounds_of);
  if (s.some_uncounted)
    fmt::print(
        "Rows without counts were run and checked, not counted: counting takes minutes at that size. "
        "TILEWISE_COUNT=1 counts them.\n");
  if (sampled_blocks() != 0) {
    fmt::print(
        "Counted in about {} blocks of each launch, and scaled to its whole grid (--sample). Results are unfinished, "
        "so "
        "nothing "
        "was checked.\n{} counted, {} wrong, {} skipped.\n",
        with_commas(sampled_blocks()), s.counted, s.wrong, s.skipped);
  } else {
    fmt::print("{} right, {} wrong, {} skipped.\n", s.right, s.wrong, s.skipped);
  }
  if (!s.options.json().empty()) s.results.write(s.options.json());
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    throw std::runtime_error("the table could not be written to stdout");
  return s.wrong == 0 ? kAllRight : kWrongResult;
}

}  // namespace tilewise
