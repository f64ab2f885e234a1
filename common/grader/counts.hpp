/// @file
/// What the simulator's report of a submission counts, and which of its lines say why.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "rubric.hpp"

namespace tilewise::grader {

/// Of all launches of a report together.
struct Totals {
  std::map<std::string, double> counts;
  double flops = 0, load_sectors = 0, store_sectors = 0, atomic_sectors = 0;
};

/// Accesses to shared memory that nvcc would merge count as merged, or as the kernel has them.
enum class SharedMemory { merged, as_written };
Totals totals(const nlohmann::ordered_json& report, SharedMemory shared = SharedMemory::merged);

/// Takes loads of what had just been loaded for loads like others.
void count_repeats(nlohmann::ordered_json& report);

/// Names that Limit::count may have.
const std::vector<std::string>& count_names();
/// "sectors of loads" for load_sectors.
std::string readable_count(const std::string& name);
std::string count_text(double count);
std::string target_text(const Limit& l);

/// A line of the submission, without the blanks before it.
std::string source_line(const std::string& file, int line);

/// A message that calls the submission by its name, as all else does that is said about it.
std::string without_folders(std::string message, const std::string& file);

/// Why CUDA does not accept the last launch of a report, in words; "" where that cannot be told.
std::string why_refused(const nlohmann::ordered_json& report, int error);

/// The launches or lines of the report that say why a count is what it is. It is larger than its target by `too_many`;
/// 0 where that is not known.
std::vector<std::string> diagnoses(const nlohmann::ordered_json& report, const std::string& count, double too_many,
                                   const std::string& file);

}  // namespace tilewise::grader
