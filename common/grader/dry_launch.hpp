/// @file
/// What a submission does at sizes that are too large to be run. Its program gets addresses without memory, and the simulator
/// accepts or refuses each launch and runs none (tilewise_sim/report.hpp: launch_only()), or a few of its blocks (run_corners()).
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "rubric.hpp"
#include "sandbox.hpp"
#include "task.hpp"

namespace tilewise::grader {

/// Runs a submission's program: the bytes that it gets, and how many come back.
using RunProgram = std::function<ChildResult(const std::string& message, std::size_t reply)>;

/// What one call launched.
struct DryLaunch {
  std::string ended;  ///< why there is no answer; else ""
  bool timed_out = false;
  int returned = 0;      ///< the error that the function returned
  bool nothing = false;  ///< neither a kernel nor a library was called
  nlohmann::ordered_json report = nlohmann::ordered_json::array();

  /// Why these launches can't do what the contract asks for; "" where nothing speaks against them.
  std::string fault() const;
};

DryLaunch launch_dry(const Rubric& rubric, const Task& task, const Sizes& sizes, const RunProgram& run);

/// Runs the blocks at the corners of each grid, on arrays of zeros that have the sizes of the contract and no memory. Returns
/// the findings of indices that leave their array.
std::vector<nlohmann::ordered_json> run_corners(const Rubric& rubric, const Task& task, const Sizes& sizes,
                                                const RunProgram& run);

/// How many elements each buffer has at these sizes, told by the rows and columns that it has at the rubric's small ones, where
/// these are a product or a sum of sizes, such as M * K, n + 1, 8 * n or cols + gap. Nothing where it's another rule, or chance.
std::vector<std::optional<std::uint64_t>> elements_at(const Rubric& rubric, const Task& task, const Sizes& sizes);

/// The kernel of a counted run that moved most sectors and wavefronts; "" where none did.
std::string busiest_kernel(const nlohmann::ordered_json& counted);

/// How many blocks the largest launch of that kernel has; of the launch with most threads, where the kernel isn't among them.
double blocks_of(const nlohmann::ordered_json& dry, const std::string& kernel);

/// Of the card that submissions are graded for, an H200.
constexpr int kMultiprocessors = 132;

}  // namespace tilewise::grader
