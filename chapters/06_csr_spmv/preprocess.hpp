// What lesson 06 says about preprocessing: what it takes in time and memory, and after how many
// products it has paid for itself. Plumbing, as problem.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "problem.hpp"
#include "tilewise/lesson.hpp"
#include "tilewise/table.hpp"
#include "tilewise/timer.hpp"

/// One product, in seconds: median, and the range that the middle half of the samples lies in.
struct ProductTime {
  double median = 0, iqr = 0;
};

/// When preprocessing has paid for itself.
struct BreakEven {
  enum class Kind {
    after,   ///< with the product number `products`
    never,   ///< the product is no faster with it
    unclear  ///< the two times differ by less than they vary
  };
  Kind kind = Kind::never;
  std::int64_t products = 0;

  /// "12", "never" or "within the spread".
  std::string text() const {
    return kind == Kind::after   ? tilewise::with_commas(static_cast<std::uint64_t>(products))
           : kind == Kind::never ? "never"
                                 : "within the spread";
  }
};

/// The least number n of products, at least 1, for which preprocessing + n * with <= n * without,
/// all in seconds. Times that differ by no more than half the sum of their IQRs give no number.
/// Throws std::invalid_argument for what is no time: negative, not finite, or products of 0 s.
inline BreakEven break_even(double preprocessing, ProductTime with, ProductTime without) {
  const auto is_time = [](double seconds) { return std::isfinite(seconds) && seconds >= 0; };
  if (!is_time(preprocessing) || !is_time(with.iqr) || !is_time(without.iqr) ||
      !is_time(with.median) || !is_time(without.median) || with.median == 0 || without.median == 0)
    throw std::invalid_argument("break_even: a time is negative, 0 or no number");
  const double saved = without.median - with.median;
  if (with.iqr + without.iqr > 0 && std::abs(saved) <= (with.iqr + without.iqr) / 2)
    return {BreakEven::Kind::unclear};
  if (saved <= 0) return {BreakEven::Kind::never};
  const double products = std::max(1.0, std::ceil(preprocessing / saved));
  if (products > 0x1p53) return {BreakEven::Kind::never};
  return {BreakEven::Kind::after, static_cast<std::int64_t>(products)};
}

/// Collects the products of each matrix with and without preprocessing, adds what they say to the
/// lesson's JSON, and prints it as a table of its own. Two things need no preprocessing and are
/// what it is held against: one thread per row, and the faster of cuSPARSE's algorithms as it is
/// without cusparseSpMV_preprocess().
class Preprocessing {
 public:
  Preprocessing(tilewise::Lesson& lesson, const tilewise::Options& options, std::string cache)
      : lesson_(lesson), options_(options), cache_(std::move(cache)) {}

  /// A product that needs preprocessing.
  struct Prepared {
    std::string kernel;         ///< of the product
    std::string by;             ///< what prepares it
    std::size_t bytes;          ///< of device memory that stay in use
    tilewise::Outcome product;  ///< its row
    tilewise::Timing time;      ///< of the preprocessing
    tilewise::Record more;      ///< further fields of the row
  };
  void prepared(const Prepared& product) { prepared_.push_back(product); }

  /// Products that need none.
  void simple(const tilewise::Outcome& product) { keep_faster(simple_, product); }
  void cusparse_unprepared(const tilewise::Outcome& product) {
    keep_faster(unprepared_, product);
    lesson_.add_fields(product, tilewise::Record().set("unprepared", true));
  }

  /// cuSPARSE's product `name` after its preprocessing, which is timed here.
  template <class T>
  void cusparse(const std::string& name, const tilewise::Outcome& product, const Problem<T>& p,
                CusparseSpmv<T>& spmv) {
    if (timed())
      prepared({name,
                "cusparseSpMV_preprocess",
                spmv.buffer_bytes(),
                product,
                spmv.preprocess_time(rules(p)),
                {}});
  }

  /// The plan, timed or counted here, and the products that come of it: the balanced kernel's, and
  /// the one that launch_spmv() takes. `products`: by kernel.
  template <class T>
  void plan(Problem<T>& p, const std::map<std::string, tilewise::Outcome>& products) {
    if (const tilewise::Outcome& balanced = products.at("spmv_balanced"); balanced.counts) {
      const auto cuts = tilewise::count([&] { p.find_cuts(nullptr); });
      const auto stats = tilewise::count([&] { p.measure_rows(nullptr); });
      counted(p, balanced, *cuts, *stats);
    }
    if (!timed()) return;
    const tilewise::TimerOptions by = rules(p);
    const tilewise::Timing whole = tilewise::measure_elapsed([&] { p.make_plan(); }, {}, by);
    tilewise::Record parts;
    parts.set("preprocess_parts.spmv_cuts_seconds",
              tilewise::measure([&](cudaStream_t stream) { p.find_cuts(stream); }, by).seconds());
    parts.set(
        "preprocess_parts.spmv_row_stats_seconds",
        tilewise::measure([&](cudaStream_t stream) { p.measure_rows(stream); }, by).seconds());
    for (const std::string& kernel : std::set<std::string>{"spmv_balanced", p.chosen()})
      if (const auto found = products.find(kernel); found != products.end())
        prepared({kernel, "launch_spmv_plan", p.plan_bytes(), found->second, whole, parts});
  }

  /// Ends a matrix: works out what pays.
  template <class T>
  void finish(const Problem<T>& problem) {
    for (const Prepared& p : prepared_) {
      if (p.product.status != tilewise::Status::ok || !p.time.timed || !p.product.timing.timed)
        continue;
      tilewise::Record fields = p.more;
      fields.set("preprocess_by", p.by).set("preprocess_seconds", p.time.seconds());
      fields.set("preprocess_iqr_seconds", p.time.ms.iqr() * 1e-3)
          .set("preprocess_samples", p.time.ms.n);
      fields.set("preprocess_bytes", p.bytes);
      std::vector<std::string> row = {problem.name(),
                                      problem.type(),
                                      p.kernel,
                                      tilewise::bytes_text(static_cast<double>(p.bytes)),
                                      tilewise::significant(p.time.median_ms()),
                                      tilewise::significant(p.product.timing.median_ms())};
      for (const auto& [name, without] :
           {std::pair("spmv_scalar", simple_), std::pair("cusparse_unprepared", unprepared_)}) {
        row.push_back("-");
        if (!without) continue;
        const BreakEven pays = break_even(p.time.seconds(), time_of(p.product), *without);
        const std::string key = std::string("break_even.") + name;
        pays.kind == BreakEven::Kind::after ? fields.set(key, pays.products)
                                            : fields.set(key, pays.text());
        row.back() = pays.text();
      }
      lesson_.add_fields(p.product, fields);
      rows_.push_back(row);
    }
    prepared_.clear();
    simple_.reset();
    unprepared_.reset();
  }

  /// The table, if there is anything to say.
  void print() const {
    if (rows_.empty()) return;
    using Columns = std::vector<tilewise::Column>;
    tilewise::Table table(tilewise::is_simulated()
                              ? Columns{{"matrix", "", 10, true},
                                        {"type", "", 6, true},
                                        {"preprocessing", "kernel", 13, true},
                                        {"plan", "bytes", 9, false},
                                        {"load requests", "warp instr.", 13, false},
                                        {"sectors", "", 9, false},
                                        {"of balanced", "% of sectors", 12, false}}
                              : Columns{{"matrix", "", 10, true},
                                        {"type", "", 6, true},
                                        {"product", "kernel", 17, true},
                                        {"memory", "", 9, false},
                                        {"to prepare", "ms", 10, false},
                                        {"product", "ms", 8, false},
                                        {"pays against", "spmv_scalar", 17, false},
                                        {"pays against", "unprepared", 17, false}});
    lesson_.say(tilewise::is_simulated() ? "\nPreprocessing for launch_spmv(), once per matrix; "
                                           "the last column is of one spmv_balanced:\n"
                                         : "\nPreprocessing, from the call until it is done, and "
                                           "after how many products it has paid for itself. "
                                           "Unprepared:\nthe faster of cuSPARSE's algorithms "
                                           "without cusparseSpMV_preprocess().\n");
    for (const auto& row : rows_)
      table.row(row,
                tilewise::sampled_blocks() != 0 ? tilewise::Status::counted : tilewise::Status::ok);
  }

 private:
  bool timed() const { return !tilewise::is_simulated() && options_.timed(); }
  template <class T>
  tilewise::TimerOptions rules(const Problem<T>& p) const {
    tilewise::TimerOptions rules;
    rules.iterations = options_.repeat();
    rules.working_set = p.working_set(cache_);
    rules.min_seconds = 0.05;
    rules.graph_below_us = 0;  // once per matrix: nothing to repeat in a graph, with L2 warm
    return rules;
  }

  /// The kernels of a plan: the row of the balanced product gets their counts.
  template <class T>
  void counted(const Problem<T>& p, const tilewise::Outcome& balanced, const tilewise::Counts& cuts,
               const tilewise::Counts& stats) {
    tilewise::Record fields;
    fields.set("preprocess_bytes", p.plan_bytes());
    for (const auto& [name, counts] :
         {std::pair("spmv_cuts", cuts), std::pair("spmv_row_stats", stats)}) {
      const std::string key = std::string("preprocess_counts.") + name + ".";
      fields.set(key + "global_load_requests", counts.global_load_requests);
      fields.set(key + "global_load_sectors", counts.global_load_sectors);
      fields.set(key + "global_store_requests", counts.global_store_requests);
      fields.set(key + "atomic_requests", counts.atomic_requests);
      const double share = static_cast<double>(counts.global_load_sectors) /
                           static_cast<double>(balanced.counts->global_load_sectors);
      rows_.push_back({p.name(), p.type(), name, tilewise::with_commas(p.plan_bytes()),
                       tilewise::with_commas(counts.global_load_requests),
                       tilewise::with_commas(counts.global_load_sectors),
                       tilewise::fixed(100 * share, 1)});
    }
    lesson_.add_fields(balanced, fields);
  }

  static ProductTime time_of(const tilewise::Outcome& product) {
    return {product.timing.seconds(), product.timing.ms.iqr() * 1e-3};
  }
  static void keep_faster(std::optional<ProductTime>& best, const tilewise::Outcome& product) {
    if (product.status != tilewise::Status::ok || !product.timing.timed) return;
    if (!best || product.timing.seconds() < best->median) best = time_of(product);
  }

  tilewise::Lesson& lesson_;
  const tilewise::Options& options_;
  std::string cache_;
  std::vector<Prepared> prepared_;
  std::optional<ProductTime> simple_, unprepared_;
  std::vector<std::vector<std::string>> rows_;
};
