/// @file
/// What an instructor decides about a task: one JSON file per task, tests/NN_topic/homework/N_task.json.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tilewise::grader {

using Sizes = std::vector<int>;

/// Bounds on one count, and the points for keeping them.
struct Limit {
  std::string count;  ///< see count_names() in counts.hpp
  std::optional<double> at_least, at_most;
  double points = 0;
  std::string why;      ///< shown when it is not kept
  Sizes shape = {};     ///< that is counted; empty: Rubric::efficiency_shape
  bool lesson = false;  ///< what the chapter teaches: where it isn't kept, the other limits give no points either

  bool kept(double value) const { return !(at_least && value < *at_least) && !(at_most && value > *at_most); }
};

struct Points {
  double compiles = 0, visible = 0, hidden = 0, findings = 0, efficiency = 0;
  double sum() const { return compiles + visible + hidden + findings + efficiency; }
};

struct Rubric {
  std::string file;
  std::string task;
  std::string level;
  std::string title;
  double weight = 0;  ///< of the task within its chapter
  std::vector<std::string> sizes;
  Points points;
  std::vector<Sizes> visible;
  std::uint64_t hidden_seed = 0;
  int hidden_count = 0;
  std::vector<std::pair<int, int>> hidden_ranges;
  std::vector<std::string> libraries;  ///< that the task may call: cublas, cusparse
  /// Groups of CUDA's calls that it may make, too: streams, copies, graphs, devices.
  std::vector<std::string> calls = {};
  int time_limit = 0;  ///< seconds of CPU for one case
  Sizes efficiency_shape;
  bool repeats_count = true;  ///< loads of what had just been loaded; nvcc keeps such words in registers
  Sizes gpu_shape;            ///< at which times on a GPU are compared; empty: efficiency_shape
  std::vector<Limit> limits;
  int busy_multiprocessors = 16;  ///< that must have a block at gpu_shape, else no limit gives points; of an H200's 132
  std::vector<Sizes> largest;     ///< what the contract allows: what is launched there is looked at, and not run
  bool any_base = false;          ///< arrays may begin at any of their elements, not at multiples of 16 bytes only

  /// The visible shapes are not among them; all different.
  std::vector<Sizes> hidden() const;
  /// "M = 3, N = 4, K = 5"
  std::string text(const Sizes& shape) const;
};

/// Throws std::invalid_argument, naming file and key, for anything missing, unknown or senseless.
Rubric read_rubric(const std::string& file);
/// The same of a text. `file` is named by what is thrown.
Rubric parse_rubric(const std::string& text, const std::string& file);
/// All tasks of a chapter, in the order of their file names.
std::vector<Rubric> read_rubrics(const std::string& folder);

/// The libraries, and groups of CUDA's calls, that at least one of the tasks may call.
std::set<std::string> libraries_of(const std::vector<Rubric>& rubrics);

}  // namespace tilewise::grader
