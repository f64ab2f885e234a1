// Measures one part of the machine after the other: check, then time (GPU) or count (simulator),
// then a row. Plumbing; the lesson is in roofline.cuh.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewise/compare.hpp"
#include "tilewise/counters.hpp"
#include "tilewise/cuda_check.hpp"
#include "tilewise/device.hpp"
#include "tilewise/options.hpp"
#include "tilewise/results.hpp"
#include "tilewise/table.hpp"
#include "tilewise/timer.hpp"

/// What a part of the table measures, and so what its columns are.
enum class Measure {
  latency,  ///< cycles of one step
  flops,    ///< GFLOP/s, on registers alone
  rate,     ///< GB/s
  roofline  ///< the same over the FLOP that are done per byte
};

/// One part of the machine, and how it is measured.
struct Probe {
  std::string what;    ///< "L2", "4 loads in flight, 8 warps per SM"
  std::string kernel;  ///< the kernel's name in the code
  std::string size;    ///< "7.5 MB"
  /// name of the figure in the JSON: "dram_read". Of several with the same, the best one counts
  std::string key;
  bool show_share = true;  ///< rates: print the share of the peak
  bool flops = false;      ///< rates: FLOP or bytes
  double work = 0;         ///< rates: of one launch
  /// rates: in GFLOP/s or GB/s; what is above it is an error. 0: unknown
  double peak = 0;
  bool by_sm_clock = false;  ///< rates: the peak is so much per cycle of the SMs
  double intensity = 0;      ///< roofline: FLOP per byte
  double steps = 0;          ///< latencies: on the clock, in one launch
  tilewise::TimerOptions rules = {};
  std::function<void(cudaStream_t)> launch = {};
  std::function<void()> poison = {};
  std::function<tilewise::Comparison()> check = {};
  /// latencies: cycles of one step, as the kernel's own clock said last
  std::function<double()> cycles = {};
};

/// The table and the JSON of the lesson.
class Ceilings {
 public:
  explicit Ceilings(const tilewise::Options& options) : options_(options), results_(options) {}

  /// A heading and, below it, a table of its own.
  void begin(const std::string& part, Measure measure, const std::string& heading) {
    std::printf("\n%s: %s\n", part.c_str(), heading.c_str());
    const char* const quantities[] = {"time", "flops", "bytes", "intensity"};  // in Measure's order
    if (part != part_)
      results_.describe_table(part, heading, quantities[static_cast<int>(measure)]);
    part_ = part;
    measure_ = measure;
    table_.emplace(columns());
  }

  void run(const Probe& probe) {
    tilewise::Comparison comparison;
    std::optional<tilewise::Counts> counts;
    tilewise::Timing timing;
    Row row;
    table_->progress(probe.what + ", " + probe.kernel);
    try {
      probe.poison();
      counts = tilewise::count([&] { probe.launch(nullptr); });
      CUDA_CHECK(cudaDeviceSynchronize());
      if (tilewise::sampled_blocks() != 0) {
        add(probe, {tilewise::Status::counted, "", 0, 0, 0}, {}, {}, counts);
        return;
      }
      comparison = probe.check();
      if (comparison.ok && !tilewise::is_simulated()) {
        tilewise::TimerOptions rules = probe.rules;
        rules.iterations = options_.timed() ? options_.repeat() : 1;
        timing = tilewise::measure(probe.launch, rules);
        comparison = probe.check();  // what the last timed launch left
      }
      row = judge(probe, comparison, timing);
    } catch (const tilewise::CudaError& error) {
      row.status = tilewise::Status::wrong;
      row.reason = error.what();
      // nothing can run after an error inside a kernel: say which it was
      add(probe, row, comparison, timing, counts);
      throw;
    }
    add(probe, row, comparison, timing, counts);
  }

  /// A row for what cannot be measured here.
  void skip(const std::string& what, const std::string& kernel, const std::string& reason) {
    Probe probe;
    probe.what = what;
    probe.kernel = kernel;
    add(probe, {tilewise::Status::skip, reason}, {}, {}, {});
  }

  /// What has been measured under that key so far; 0 if nothing. Latencies: cycles.
  double best(const std::string& key) const {
    const auto found = best_.find(key);
    return found == best_.end() ? 0 : found->second;
  }

  int finish() {
    const bool sampled = tilewise::sampled_blocks() != 0;
    if (sampled)
      std::printf(
          "\nCounted in part of the blocks of each launch, and scaled to its whole grid "
          "(--sample). Results are "
          "unfinished, "
          "so nothing was checked.");
    std::printf("\n%d %s, %d wrong, %d skipped.\n", right_, sampled ? "counted" : "right", wrong_,
                skipped_);
    if (!options_.json().empty()) results_.write(options_.json());
    return wrong_ == 0 ? tilewise::kAllRight : tilewise::kWrongResult;
  }

  /// A row's verdict: what the time and the clock say, and whether that is possible.
  struct Row {
    tilewise::Status status = tilewise::Status::skip;
    std::string reason;
    double figure = 0;  ///< GFLOP/s or GB/s
    double cycles = 0, ns = 0;
  };

  static Row judge(const Probe& probe, const tilewise::Comparison& comparison,
                   const tilewise::Timing& timing) {
    Row row;
    row.status = comparison.ok ? tilewise::Status::ok : tilewise::Status::wrong;
    row.reason = comparison.ok ? timing.note : comparison.reason();
    if (!comparison.ok || !timing.timed) return row;
    // Some GPUs run faster than the highest clock that they tell.
    const double told_mhz = tilewise::device().sm_clock_mhz;
    const double most_mhz = std::max(told_mhz, timing.sm_clock_max_mhz);
    try {
      if (probe.cycles) {
        row.cycles = probe.cycles();
        row.ns =
            row.cycles / (timing.sm_clock_max_mhz > 0 ? timing.sm_clock_max_mhz : told_mhz) * 1e3;
        // The kernel's clock and the events outside must agree: the cycles fit into the time, at
        // the highest clock.
        const double mhz_needed = row.cycles * probe.steps / timing.seconds() * 1e-6;
        if (probe.steps > 0)
          tilewise::check_possible(mhz_needed, 1.02 * most_mhz, "MHz", "highest SM clock");
        if (!(row.cycles >= 1))
          throw tilewise::ImpossibleFigure("less than a cycle for a step that waits for the last");
      }
      if (probe.work > 0) {
        row.figure = probe.work / timing.seconds() * 1e-9;
        const double peak =
            probe.peak * (probe.by_sm_clock && told_mhz > 0 ? most_mhz / told_mhz : 1);
        tilewise::check_possible(row.figure, peak, probe.flops ? "GFLOP/s" : "GB/s",
                                 "theoretical peak");
      }
    } catch (const tilewise::ImpossibleFigure& error) {
      row.status = tilewise::Status::impossible;
      row.reason = error.what();
    }
    return row;
  }

 private:
  /// What the table says of each part, by names of columns.inc.
  std::vector<const char*> figures() const {
    const bool roofline = measure_ == Measure::roofline;
    if (tilewise::is_simulated()) {
      if (roofline)
        return {"load_requests", "sectors_per_load", "store_requests", "flops",
                "counted_intensity"};
      if (measure_ == Measure::flops)
        return {"load_requests", "sectors_per_load", "store_requests", "flops"};
      if (measure_ == Measure::rate)
        return {"load_requests", "sectors_per_load", "store_requests", "shared_wavefronts"};
      return {"steps", "load_requests", "sectors_per_load", "shared_wavefronts"};
    }
    if (measure_ == Measure::latency) return {"memory", "cycles", "nanoseconds"};
    if (roofline) return {"intensity", "time", "rate", "rate_unit", "of_roof"};
    return {"memory", "time", "rate", "rate_unit", "of_peak"};
  }

  std::vector<tilewise::Column> columns() const {
    std::vector<tilewise::Column> list = {{"", "", 37, true}, {"kernel", "", 18, true}};
    for (const char* name : figures())
      list.push_back(tilewise::on_screen(tilewise::known_column(name)));
    return list;
  }

  void add(const Probe& probe, const Row& row, const tilewise::Comparison& comparison,
           const tilewise::Timing& timing, const std::optional<tilewise::Counts>& counts) {
    const bool ok = row.status == tilewise::Status::ok || row.status == tilewise::Status::counted;
    (ok ? right_ : row.status == tilewise::Status::skip ? skipped_ : wrong_)++;
    tilewise::Record r;
    r.set("part", part_).set("what", probe.what).set("kernel", probe.kernel);
    r.set("status", tilewise::to_string(row.status));
    if (!probe.size.empty()) r.set("shape", probe.size);
    if (!probe.key.empty()) r.set("key", probe.key);
    if (!row.reason.empty()) r.set("reason", row.reason);
    if (probe.intensity > 0) r.set("intensity", probe.intensity);

    if (ok && counts) {
      tilewise::set_counts(r, *counts);
      if (probe.steps > 0) r.set("steps", probe.steps);
    } else if (ok && measure_ == Measure::latency) {
      r.set("latency.cycles", row.cycles).set("latency.ns", row.ns);
    } else if (ok) {
      r.set("figure.value", row.figure).set("figure.unit", probe.flops ? "GFLOP/s" : "GB/s");
      const bool roofline = measure_ == Measure::roofline;
      if (probe.show_share)
        r.set(roofline ? "figure.share_of_roof" : "figure.share_of_peak",
              row.figure / (roofline ? roof(probe.intensity) : probe.peak));
    }
    if (ok && timing.timed) {
      r.set("time.median_ms", timing.ms.median)
          .set("time.iqr_ms", timing.ms.iqr())
          .set("time.q1_ms", timing.ms.q1)
          .set("time.q3_ms", timing.ms.q3);
      r.set("time.min_ms", timing.ms.min)
          .set("time.max_ms", timing.ms.max)
          .set("time.samples", timing.ms.n);
      r.set("time.l2_flushed", timing.flushed)
          .set("time.sm_clock_max_mhz", timing.sm_clock_max_mhz);
      double& best = best_[probe.key];
      if (measure_ != Measure::latency) best = std::max(best, row.figure);
      if (measure_ == Measure::latency) best = best > 0 ? std::min(best, row.cycles) : row.cycles;
    }
    if (comparison.checked > 0)
      r.set("checked.method", comparison.method).set("checked.count", comparison.checked);
    std::vector<std::string> cells = {probe.what, probe.kernel};
    for (const char* name : figures())
      cells.push_back(ok ? tilewise::written(tilewise::known_column(name), r) : "");
    table_->row(cells, row.status, row.reason);
    results_.add(r);
  }

  /// What the measured ceilings allow at that many FLOP per byte, in GFLOP/s.
  double roof(double intensity) const {
    const double flops = best("fma"), bytes = best("dram_copy");
    if (flops == 0 || bytes == 0) return 0;
    return std::min(flops, intensity * bytes);
  }

  const tilewise::Options& options_;
  tilewise::Results results_;
  std::optional<tilewise::Table> table_;
  std::string part_;
  Measure measure_ = Measure::rate;
  std::map<std::string, double> best_;
  int right_ = 0, wrong_ = 0, skipped_ = 0;
};

/// Prints what the machine is and what follows from that.
inline void describe_machine() {
  using tilewise::bytes_text, tilewise::with_commas;
  const tilewise::Device& d = tilewise::device();
  const auto number = [](double value) {
    return with_commas(static_cast<std::uint64_t>(value + 0.5));
  };
  const auto bytes = [](std::size_t value) { return bytes_text(static_cast<double>(value)); };
  const auto line = [](const char* what, const std::string& text) {
    std::printf("  %-18s%s\n", what, text.c_str());
  };
  const double ghz = d.sm_clock_mhz * 1e-3, memory_ghz = d.memory_clock_mhz * 1e-3;
  const int warps = d.max_threads_per_sm / d.warp_size;

  std::printf("%s, compute capability %d.%d\n", d.name.c_str(), d.major, d.minor);
  if (d.simulated)
    std::printf(
        "There is no GPU here. The simulator takes its place: it runs every kernel, so that "
        "results can be checked,\n"
        "and counts what memory has to do. It has no clock and measures no time. "
        "TILEWISE_DEVICE=t4 (a100, l4,\n"
        "rtx4090, h100, ...) makes it another GPU.\n\n");
  line("SMs", number(d.sms) + ", at up to " + number(d.sm_clock_mhz) + " MHz");
  line("threads", number(d.max_threads_per_block) + " per block, " + number(d.max_threads_per_sm) +
                      " per SM (" + number(warps) + " warps of " + number(d.warp_size) + "), " +
                      number(d.max_blocks_per_sm) + " blocks per SM");
  line("registers", number(d.registers_per_sm) + " of 4 bytes per SM, " +
                        number(d.registers_per_block) + " per block, 255 per thread; " +
                        number(d.registers_per_sm / d.max_threads_per_sm) +
                        " each when the SM is full");
  line("shared memory", bytes(d.shared_per_block) + " per block, " +
                            bytes(d.shared_per_block_opt_in) + " for a program that asks, " +
                            bytes(d.shared_per_sm) + " per SM");
  if (d.l1_and_shared_per_sm() > 0)
    line("L1 cache", "what shared memory leaves of " + bytes(d.l1_and_shared_per_sm()) + " per SM");
  line("L2 cache", bytes(d.l2_bytes));
  line("constant memory", bytes(d.constant_bytes));
  line("global memory", bytes(d.memory_bytes) + " of DRAM, " + number(d.memory_bus_bits) +
                            " bits wide, at " + number(d.memory_clock_mhz) + " MHz");

  std::printf("\nWhat it can do at most, by multiplication:\n");
  char text[200];
  const auto product = [&](const char* what, const char* result, auto... parts) {
    std::snprintf(text, sizeof(text), parts...);
    std::printf("  %-18s%-50s= %s\n", what, text, result);
  };
  const double flops = d.peak_fp32_gflops(), bandwidth = d.peak_bandwidth_gbs();
  product("FP32", (number(flops) + " GFLOP/s").c_str(), "%d SMs x %d FMA lanes x 2 FLOP x %.3f GHz",
          d.sms, d.fp32_cores_per_sm(), ghz);
  product("DRAM", (number(bandwidth) + " GB/s").c_str(), "%s bits / 8 x 2 per clock x %.3f GHz",
          number(d.memory_bus_bits).c_str(), memory_ghz);
  product("shared memory", (number(d.peak_shared_gbs()) + " GB/s").c_str(),
          "%d SMs x 32 banks x 4 bytes x %.3f GHz", d.sms, ghz);
  if (flops > 0 && bandwidth > 0)
    product("balance", (tilewise::fixed(flops / bandwidth, 1) + " FLOP per byte").c_str(),
            "%s GFLOP/s / %s GB/s", number(flops).c_str(), number(bandwidth).c_str());
}
