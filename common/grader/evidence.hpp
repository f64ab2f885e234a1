/// @file
/// What running a submission's program shows, one shape after another. judge_task.cpp makes points of it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "dry_launch.hpp"
#include "explain.hpp"
#include "machine.hpp"
#include "rubric.hpp"
#include "task.hpp"

namespace tilewise::grader {

enum class Outcome { right, wrong, undefined, failed };  ///< failed: no result to compare

/// What is known of one shape.
struct Case : Explanation {
  Outcome outcome = Outcome::failed;
  std::string output;  ///< what it printed
  bool timed_out = false;
  bool suspicious = false;  ///< it ended in a way that may be the machine's fault
  bool slow = false;
  int returned = 0;             ///< the error that the function returned
  bool ended_by_error = false;  ///< a launch that a GPU would not have finished either
  std::uint64_t findings = 0;
  nlohmann::ordered_json report;
  std::uint64_t launches = 0, library_calls = 0;
  std::map<std::string, double> host_counts;  ///< of what host code asked for, by their names
  std::string timeline_unit;                  ///< Problem::timeline_unit_name
  double least_flops = 0, flops = 0, least_load_sectors = 0, least_store_sectors = 0;
};

/// Said of a run in which the last block ran first.
inline constexpr const char* kReverse = "in this run the last block ran first: no order of the blocks is promised";

/// Runs the program on one shape. The simulator's report is read where it's wanted. Looking for findings costs time.
Case run_case(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes, std::uint64_t seed,
              bool report, bool reverse = false, bool findings = true);

/// Whether the function says so when a launch, or a call of a library, fails: the first one, the second, and so on; 0:
/// none. What ends the program, or does not end, has noticed something.
bool tells_of_failure(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes,
                      std::uint64_t seed, std::uint64_t launch, std::uint64_t library_call);

/// What the function launches at sizes that nobody waits for.
DryLaunch launches_at(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes);

/// What leaves its array at the largest sizes of the contract, and where: blocks at the corners of the grids tell.
std::vector<nlohmann::ordered_json> out_of_bounds_at(const Rubric& rubric, const Task& task, const Machine& machine,
                                                     const Sizes& sizes);

/// "", or what goes wrong when a program calls the function for the second time.
std::string wrong_again(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes,
                        std::uint64_t seed);

/// "", or what goes wrong when the function is called for another case first, which is smaller.
std::string wrong_after(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& small,
                        const Sizes& sizes, std::uint64_t seed);

/// Of the visible shapes one with little data and one with more, but no more than is looked at quickly.
std::pair<Sizes, Sizes> smallest_and_largest(const Rubric& rubric, const Task& task);

/// The first element, by its name, that has other bits when the last block runs first; "" where there is none.
std::string other_bits_in_reverse(const Rubric& rubric, const Task& task, const Machine& machine, const Sizes& sizes,
                                  std::uint64_t seed);

}  // namespace tilewise::grader
