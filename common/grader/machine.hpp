/// @file
/// Where a submission's program runs, and who answers it meanwhile.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "gpu.hpp"
#include "harness.hpp"
#include "task.hpp"
#include "tools.hpp"

namespace tilewise::grader {

/// Answers what a submission's program asks while it runs and may not look up itself: lines of its source.
class SourceLines {
 public:
  SourceLines(std::string program, std::string file) : program_(std::move(program)), file_(std::move(file)) {}

  /// See base/symbols.hpp. The question comes from a program that may ask anything.
  std::string answer(const std::string& question);

 private:
  std::string find(const std::string& question) const;

  std::string program_, file_;
  std::mutex mutex_;
  std::map<std::string, std::string> answers_;
};

/// Where a case runs.
struct Machine {
  std::string program;
  SourceLines* lines = nullptr;
  std::string file;                                     ///< the submission
  const std::map<std::string, long>* frames = nullptr;  ///< CompilerWarnings::frames
  Cage cage = Cage::submission;
  const Gpu* gpu = nullptr;  ///< nullptr: the simulator

  /// What a submission's program gets here, besides `more`. Throws NotGraded where it can't be started.
  ChildResult run(const Request& request, const Problem& p, int seconds, Environment more = {}) const;
  ChildResult run(const std::string& message, std::size_t reply, int seconds, Environment more) const;
};

}  // namespace tilewise::grader
