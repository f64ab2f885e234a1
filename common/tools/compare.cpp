// Holds this machine's runs against recorded ones, for common/scripts/run/compare.sh:
//   compare file RESULTS_FOLDER RUN.json       prints the recorded file to compare with
//   compare arguments RECORDED.json PROGRAM    prints the arguments to run a lesson with
//   compare table RECORDED.json RUN.json...    prints what differs
//   compare show RECORDED.json PROGRAM WORD... prints what was recorded: the rows that contain all words
// Exit codes: 0 nothing is worse, 1 something is, 2 bad arguments, 3 nothing recorded.
#include "compare_results.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

using namespace compare_results;

Json read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " cannot be read");
  return Json::parse(file);
}

std::string machine_of(const Json& run) { return text(at(run, "machine"), "name"); }

int recorded_file(const std::string& folder, const std::string& run) {
  const std::string machine = machine_of(read(run));
  const std::string own = fmt::format("{}/{}.json", folder, slug(machine));
  if (std::filesystem::exists(own)) {
    fmt::print("{}\n", own);
    return kSame;
  }
  const std::string other = folder + "/nvidia-h200.json";
  if (machine.starts_with("Simulated")) {
    fmt::print(stderr,
               "There is no {}: nothing to compare with. A simulator measures no time, so the recorded results of GPUs "
               "say nothing here; the counters that were recorded on an H200 are compared by `make test-tools`.\n"
               "common/scripts/record/record-results.sh build/sim/bin records the counts of this simulated GPU.\n",
               own);
    return kNothingRecorded;
  }
  if (!std::filesystem::exists(other)) {
    fmt::print(stderr, "Neither {} nor {} is there: nothing to compare with.\n", own, other);
    return kNothingRecorded;
  }
  fmt::print(stderr,
             "Nothing is recorded for {}: the comparison is with the H200 of {}. Ratios then tell the two GPUs apart, "
             "and a slower row is no fault.\n",
             machine, other);
  fmt::print("{}\n", other);
  return kSame;
}

int print_arguments(const std::string& file, const std::string& program) {
  const Json run = recorded_run(read(file), program);
  if (run.is_null()) return kNothingRecorded;
  std::string line;
  for (const std::string& word : arguments(run)) line += (line.empty() ? "" : " ") + word;
  fmt::print("{}\n", line);
  return kSame;
}

int print_table(const std::string& file, const std::vector<std::string>& runs) {
  const Json recorded = read(file);
  const char* wish = std::getenv("TOLERANCE");
  const double per_cent = wish && *wish ? std::atof(wish) : 10;
  int compared = 0, worse = 0, missing = 0, added = 0;
  std::vector<double> ratios;
  bool judged = false;
  for (const std::string& path : runs) {
    const Json here = read(path);
    const std::string program = text(here, "program");
    const Json old_run = recorded_run(recorded, program);
    if (old_run.is_null()) {
      fmt::print("\n{}: not recorded in {}\n", program, file);
      continue;
    }
    const bool same = machine_of(old_run) == machine_of(here);
    judged = judged || same;
    fmt::print("\n{}: recorded on {}, {}, commit {}; here {}, commit {}\n", program, machine_of(old_run),
               text(old_run, "date").substr(0, 10), text(old_run, "commit"), machine_of(here), text(here, "commit"));
    const Result result = compare_results::compare(old_run, here, per_cent / 100, same);
    fmt::print("{}", result.table);
    compared += result.compared, worse += result.worse, missing += result.missing, added += result.added;
    ratios.insert(ratios.end(), result.ratios.begin(), result.ratios.end());
  }
  fmt::print("\n{} rows compared, {} worse, {} recorded but not run here, {} not recorded.\n", compared, worse, missing,
             added);
  if (!ratios.empty()) {
    fmt::print("Speed here against recorded: {:.3f}x in the geometric mean, {:.3f}x to {:.3f}x.", mean_ratio(ratios),
               *std::min_element(ratios.begin(), ratios.end()), *std::max_element(ratios.begin(), ratios.end()));
    if (judged) fmt::print(" Worse is more than {:g} % slower (TOLERANCE=5 asks for 5).", per_cent);
    fmt::print("\n");
  }
  if (compared == 0) return kNothingRecorded;
  return worse == 0 ? kSame : kWorse;
}

int show(const std::string& file, const std::string& program, const std::vector<std::string>& words) {
  const Json run = recorded_run(read(file), program);
  const std::string table = shown(run, words);
  if (table.empty()) {
    if (run.is_null())
      fmt::print(stderr, "{} has no run of {}.\n", file, program);
    else
      fmt::print(stderr, "No row of {} in {} has all of: {}. Without these words, all its rows are shown.\n", program,
                 file, fmt::join(words, " "));
    return kNothingRecorded;
  }
  fmt::print("{}, recorded on {}, {}, commit {}:\n{}", program, machine_of(run), text(run, "date").substr(0, 10),
             text(run, "commit"), table);
  return kSame;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 3 && words[0] == "file") return recorded_file(words[1], words[2]);
    if (words.size() == 3 && words[0] == "arguments") return print_arguments(words[1], words[2]);
    if (words.size() >= 3 && words[0] == "table") return print_table(words[1], {words.begin() + 2, words.end()});
    if (words.size() >= 3 && words[0] == "show") return show(words[1], words[2], {words.begin() + 3, words.end()});
    fmt::print(stderr,
               "usage: compare file FOLDER RUN | arguments RECORDED PROGRAM | table RECORDED RUN... | "
               "show RECORDED PROGRAM WORD...\n");
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "compare: {}\n", error.what());
    return 2;
  }
}
